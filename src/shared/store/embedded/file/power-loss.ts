import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { z } from 'zod';
import { unanswered } from '../../../contract/endings/ending.ts';
import { noAnswer } from '../../../contract/endings/no-answer.ts';
import { toSettled } from '../../../contract/execution-record.ts';
import { jobHeadSchema } from '../../../contract/job.ts';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { queueNames } from '../../../contract/queue-names.ts';
import { historyEntries } from '../stores/history.ts';
import { recordEntry } from '../stores/idempotency-records.ts';
import type { Entry, OpenTable, Table } from '../stores/tables.ts';
import type { Database } from './database.ts';

/** The previous run. `boot`: the boot id of its machine; `closed`: it ended normally; `backup`: this file is a restored copy. */
export const RUN_TABLE = 'CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;';

type Options = { flush: boolean; openTable: OpenTable; tell: (sentence: string) => void };

const runSchema = z.array(z.object({ name: z.string(), value: z.string() }));
const jobsSchema = z.array(z.object({ id: z.string(), head: z.string().nullable(), added_at: z.int() }));

/**
 * Begins a run. Jobs that were taken wait again, because their worker ended with its process; after a kill that is all. Executions end as
 * `outcome-unknown` and are not begun again in two cases. After a reboot without a normal end the claims in the shared directory may be
 * lost: this concerns executions that had begun, and all open ones if the previous run did not flush. In a restored copy everything that
 * was open may have ended since, calls under keys included.
 */
export async function beginRun(database: Database, options: Options): Promise<void> {
  const { flush, openTable, tell } = options;
  const { read, write, statement } = database;
  const rows = runSchema.parse(await read(() => statement('SELECT * FROM run').all()));
  const before = new Map(rows.map(({ name, value }) => [name, value]));
  const boot = presentBoot();
  if (before.has('backup')) {
    const jobs = await endAsUnknown(database, 'TRUE', openTable);
    const records = await endRecords(openTable('idempotency_records'));
    tell(
      `The store is a copy that was put back. Kept as outcome-unknown: ${jobs} executions that had not ended, and ${records} keys. None of them runs again.`,
    );
  } else if (before.has('boot') && before.get('boot') !== boot && !before.has('closed')) {
    const doubtful = before.get('flush') === '1' ? 'takes > 0' : 'TRUE';
    const jobs = await endAsUnknown(database, doubtful, openTable);
    if (jobs > 0)
      tell(
        `The machine went down while executions ran: ${jobs} of them are kept as outcome-unknown. None of them runs again.`,
      );
  }
  await write(() => {
    statement(`UPDATE job SET state = 'waiting', place = -seq WHERE state = 'taken'`).run();
    const put = statement('INSERT INTO run VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value');
    put.run('boot', boot);
    put.run('flush', flush ? '1' : '0');
    statement(`DELETE FROM run WHERE name IN ('closed', 'backup')`).run();
  });
}

export async function endRun({ write, statement }: Database): Promise<void> {
  await write(() => statement(`INSERT INTO run VALUES ('closed', '1') ON CONFLICT DO NOTHING`).run());
}

/** Ends open executions as unknown. Resolves to how many. */
async function endAsUnknown(database: Database, which: string, openTable: OpenTable): Promise<number> {
  const { read, write, statement } = database;
  const unfinished = `SELECT id, head, added_at FROM job WHERE queue = ? AND state != 'ended' AND ${which}`;
  const jobs = jobsSchema.parse(await read(() => statement(unfinished).all(queueNames.executions)));
  for (const { id, head, added_at } of jobs) {
    await keepAsUnknown(id, { head: parseJson(head ?? ''), at: added_at }, openTable);
    await write(() => statement('DELETE FROM job WHERE queue = ? AND id = ?').run(queueNames.executions, id));
  }
  return jobs.length;
}

async function keepAsUnknown(
  mockId: string,
  { head, at }: { head: unknown; at: number },
  openTable: OpenTable,
): Promise<void> {
  const { data } = jobHeadSchema.safeParse(head);
  if (!data) return;
  const job = { mockId, data: { ...data, input: '' }, queuedAt: at };
  const { record, result } = toSettled(job, unanswered(noAnswer('store-lost', { mockId })), at);
  const body = 'body' in result ? result.body : '';
  const table = openTable(record.batchId === null ? 'history' : 'history_of_batches');
  await table.put(historyEntries(record, { input: '', body, at }).entries);
}

const recordSchema = z.looseObject({ mockId: z.string() });
const openRecordSchema = recordSchema.extend({
  ending: z.undefined().optional(),
  answeredBy: z.undefined().optional(),
});
const keptRecordsSchema = z.array(
  z.object({
    key: z.string(),
    info: z.string().transform((info) => z.object({ text: z.string() }).safeParse(parseJson(info)).data?.text ?? ''),
  }),
);

/** Calls under keys whose ending is unknown, as rows of the table of idempotency records. `all`: also those that had ended. */
export function recordsAsUnknown(rows: unknown, { all }: { all: boolean }): Entry[] {
  return keptRecordsSchema.parse(rows).flatMap(({ key, info: text }) => {
    const { data: record } = (all ? recordSchema : openRecordSchema).safeParse(parseJson(text));
    if (!record) return [];
    const ending = { ...unanswered(noAnswer('store-lost', { mockId: record.mockId })), mockId: record.mockId };
    return [recordEntry(key, JSON.stringify({ ...record, ending }), null).entry];
  });
}

async function endRecords(table: Table): Promise<number> {
  const open = recordsAsUnknown(table.load(), { all: false });
  for (let first = 0; first < open.length; first += AT_ONCE) await table.put(open.slice(first, first + AT_ONCE));
  return open.length;
}

const AT_ONCE = 500;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** The boot id of the machine. */
function presentBoot(): string {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    return `since minute ${Math.round((Date.now() - uptime() * 1000) / 60_000)}`; // no Linux
  }
}

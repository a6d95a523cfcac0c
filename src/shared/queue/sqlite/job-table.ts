import { z } from 'zod';
import { parseJson } from '../../contract/json/parse-json.ts';
import type { Database } from '../../store/embedded/file/database.ts';
import type { Counts, Found, ShortJob, WholeJob } from '../queue.ts';

/** How many old jobs are removed at once, and how often they are looked for as others end. */
const REMOVED_AT_ONCE = 1000;
const REMOVED_EVERY_MS = 1000;

const json = z
  .string()
  .nullable()
  .transform((text) => (text === null ? null : parseJson(text)));
const endedSchema = z.object({ ended_at: z.int().nullable(), value: json });
const shortSchema = endedSchema.extend({ head: json, added_at: z.int(), takes: z.int(), progress: json });
const wholeSchema = shortSchema.extend({ data: json });
const takenSchema = z.object({
  ...{ id: z.string(), place: z.int(), data: json, added_at: z.int(), takes: z.int(), progress: json },
  trace: z.string().nullable(),
});
const countSchema = z.object({ state: z.enum(['waiting', 'snoozed', 'taken', 'ended']), n: z.int() });
const placesSchema = z.object({ first: z.int().nullable(), last: z.int().nullable() });
const dueSchema = z.object({ due_at: z.int() }).optional();
const idsSchema = z.array(z.object({ id: z.string() }));

export type TakenRow = z.infer<typeof takenSchema>;
type NewJob = { id: string; data: string; head: string | null; trace: string | null; at: number };
type Value = string | number | null;

export type JobTable = ReturnType<typeof createJobTable>;

/** The jobs of one queue. To be used within a transaction, or a look. */
export function createJobTable({ statement }: Pick<Database, 'statement'>, queue: string) {
  const rows: Rows = {
    run: (sql, ...values) => Number(statement(sql).run(queue, ...values).changes),
    one: (sql, ...values) => statement(sql).get(queue, ...values),
    all: (sql, ...values) => statement(sql).all(queue, ...values),
  };
  const places = placesOf(() => rows.one('SELECT MIN(place) AS first, MAX(place) AS last FROM job WHERE queue = ?'));
  return { ...taking(rows, places), ...changing(rows, places), ...removing(rows), ...reading(rows) };
}

/** The first parameter of each statement is the queue. `run` returns how many rows changed. */
type Rows = {
  run(sql: string, ...values: Value[]): number;
  one(sql: string, ...values: Value[]): unknown;
  all(sql: string, ...values: Value[]): unknown[];
};

function taking({ run, one, all }: Rows, places: Places) {
  return {
    /** Changes nothing when there is one of this id already. */
    add: ({ id, data, head, trace, at }: NewJob) =>
      run(
        `INSERT INTO job (queue, id, state, place, data, head, trace, added_at) VALUES (?, ?, 'waiting', ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
        ...[id, places.last(), data, head, trace, at],
      ),

    /** Takes the jobs that are next, at most so many. */
    take(count: number, now: number): TakenRow[] {
      const place = places.last();
      run(
        `UPDATE job SET state = 'waiting', due_at = NULL, place = ?2 WHERE queue = ?1 AND state = 'snoozed' AND due_at <= ?3`,
        ...[place, now],
      );
      const rows = all(
        `UPDATE job SET state = 'taken', takes = takes + 1
        WHERE seq IN (SELECT seq FROM job WHERE queue = ?1 AND state = 'waiting' ORDER BY place, seq LIMIT ?2)
        RETURNING id, place, data, added_at, takes, progress, trace`,
        count,
      );
      return rows.map((row) => takenSchema.parse(row)).sort((a, b) => a.place - b.place);
    },
    /** When the next snoozed job is due; undefined when there is none. */
    nextDueAt: () =>
      dueSchema.parse(one(`SELECT due_at FROM job WHERE queue = ? AND state = 'snoozed' ORDER BY due_at LIMIT 1`))
        ?.due_at,
  };
}

/** Each returns false when it changed nothing: `end`, `giveBack` and `snooze` where the job is not taken, the others where there is none. */
function changing({ run }: Rows, places: Places) {
  return {
    end: (id: string, value: string, at: number) =>
      run(
        `UPDATE job SET state = 'ended', value = ?2, ended_at = ?3 WHERE queue = ?1 AND id = ?4 AND state = 'taken'`,
        ...[value, at, id],
      ) === 1,
    giveBack: (id: string) =>
      run(
        `UPDATE job SET state = 'waiting', place = ?2 WHERE queue = ?1 AND id = ?3 AND state = 'taken'`,
        ...[places.first(), id],
      ) === 1,
    snooze: (id: string, dueAt: number) =>
      run(
        `UPDATE job SET state = 'snoozed', due_at = ?2 WHERE queue = ?1 AND id = ?3 AND state = 'taken'`,
        ...[dueAt, id],
      ) === 1,
    setProgress: (id: string, progress: string) =>
      run('UPDATE job SET progress = ?2 WHERE queue = ?1 AND id = ?3', progress, id) === 1,
    setData: (id: string, data: string) => run('UPDATE job SET data = ?2 WHERE queue = ?1 AND id = ?3', data, id) === 1,
  };
}

function removing({ run }: Rows) {
  let removedAt = 0;
  const removeOld = (until: number) =>
    run(
      `DELETE FROM job WHERE seq IN
      (SELECT seq FROM job WHERE queue = ? AND state = 'ended' AND ended_at <= ? ORDER BY ended_at LIMIT ${REMOVED_AT_ONCE})`,
      until,
    );
  return {
    removeWaiting: (id: string) =>
      run(`DELETE FROM job WHERE queue = ? AND id = ? AND takes = 0 AND state = 'waiting'`, id) === 1,
    erase: (id: string) => run(`DELETE FROM job WHERE queue = ? AND id = ? AND state != 'taken'`, id),
    removeOld,
    /** The same, once in a while. */
    removeOldNowAndThen(until: number, now: number): void {
      if (now - removedAt < REMOVED_EVERY_MS) return;
      removedAt = now;
      removeOld(until);
    },
  };
}

function reading({ one, all }: Rows) {
  return {
    lookUp(id: string): Found {
      const row = one('SELECT ended_at, value FROM job WHERE queue = ? AND id = ?', id);
      if (row === undefined) return { kind: 'missing' };
      const { ended_at, value } = endedSchema.parse(row);
      return ended_at === null ? { kind: 'open' } : { kind: 'ended', value };
    },
    read(id: string): WholeJob | null {
      const row = one('SELECT * FROM job WHERE queue = ? AND id = ?', id);
      if (row === undefined) return null;
      const { data, ...rest } = wholeSchema.parse(row);
      const { head: _, ...job } = shortJob(rest);
      return { ...job, data };
    },
    readShort(id: string): ShortJob | null {
      const row = one(
        'SELECT head, added_at, takes, progress, ended_at, value FROM job WHERE queue = ? AND id = ?',
        id,
      );
      return row === undefined ? null : shortJob(shortSchema.parse(row));
    },
    /** The ids of those that have not ended: of each state at most the newest so many. */
    open: (count = -1): string[] =>
      ['waiting', 'snoozed', 'taken'].flatMap((state) =>
        idsSchema
          .parse(
            all(`SELECT id FROM job WHERE queue = ? AND state = ? ORDER BY place DESC, seq DESC LIMIT ?`, state, count),
          )
          .map(({ id }) => id),
      ),
    count(): Counts {
      const rows = all(`SELECT state, COUNT(*) AS n FROM job WHERE queue = ? AND state != 'ended' GROUP BY state`);
      const counts = new Map(rows.map((row) => countSchema.parse(row)).map(({ state, n }) => [state, n]));
      const of = (state: keyof Counts) => counts.get(state) ?? 0;
      return { waiting: of('waiting'), snoozed: of('snoozed'), taken: of('taken') };
    },
  };
}

function shortJob({ head, added_at, takes, progress, ended_at, value }: z.infer<typeof shortSchema>): ShortJob {
  return { head, addedAt: added_at, begun: takes > 0, progress, endedAt: ended_at, value };
}

type Places = ReturnType<typeof placesOf>;

/** Where jobs stand. Counted in memory, because this process alone gives places. */
function placesOf(read: () => unknown) {
  let ends: { first: number; last: number } | undefined;
  function known() {
    if (ends) return ends;
    const { first, last } = placesSchema.parse(read());
    ends = { first: Math.min(0, first ?? 0), last: Math.max(0, last ?? 0) };
    return ends;
  }
  return { first: () => --known().first, last: () => ++known().last };
}

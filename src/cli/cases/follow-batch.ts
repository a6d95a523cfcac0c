import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { z } from 'zod';
import { batchStateSchema, countsSchema, failuresIn, notCheckedSchema } from '../../shared/cases/batch.ts';
import { differenceSchema } from '../../shared/cases/judging/difference.ts';
import { ranToSchema, verdictSchema } from '../../shared/cases/verdict.ts';
import { codeSchema } from '../../shared/contract/endings/outcomes.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import type { JUnitBatch } from '../../shared/reports/junit.ts';
import { messagesIn } from '../runs/event-stream.ts';
import { exitCodeOfRefusal, exitCodes } from '../terminal/exit-codes.ts';
import { errorOf, type HttpApi } from '../terminal/http-api.ts';
import { CommandFailed } from '../terminal/surroundings.ts';

const RECONNECT_MS = 500;
const GIVE_UP_MS = 30_000;

const progressSchema = z.object({ state: batchStateSchema, counts: countsSchema });
type Progress = z.infer<typeof progressSchema>;

const itemSchema = z.object({
  ...{ n: z.int(), name: z.string(), line: z.int().nullable(), target: z.string(), mockId: z.string() },
  ...{ verdict: verdictSchema, outcome: ranToSchema.nullable(), address: z.string().nullable() },
  ...{ code: codeSchema.nullable(), mayHaveRun: z.boolean(), error: z.string().nullable() },
  ...{ tookMs: z.number().nullable(), differences: z.array(differenceSchema), notChecked: z.array(notCheckedSchema) },
  parting: z.object({ id: z.string(), name: z.string() }).nullable(),
});
const setAsideSchema = z.object({
  cases: z.int(),
  errors: z.array(z.object({ field: z.string(), message: z.string() })),
});
/** What the service left out, and why: of recorded runs, or cases as `?invalid=skip` asks for. */
export type SetAside = z.infer<typeof setAsideSchema>;
export const reportSchema = progressSchema.extend({
  ...{ batchId: z.string(), app: z.int(), file: z.string().nullable(), createdAt: z.int() },
  ...{ endedAt: z.int().nullable(), etag: z.string().nullable() },
  targets: z.array(z.object({ target: z.string(), counts: countsSchema })),
  items: z.array(itemSchema),
  setAside: setAsideSchema.optional(),
});
/** A batch that is over, with all its items. */
export type Report = z.infer<typeof reportSchema>;

type Body = { text: string; type: string; query?: string };
const takenSchema = z.object({ batchId: z.string(), setAside: setAsideSchema.optional() });
type Watching = {
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
  onSetAside?: (setAside: SetAside) => void;
};

/** Runs a batch to its end and resolves to its id. When `signal` aborts it is cancelled: throws `CommandFailed`. */
export async function runBatch(api: HttpApi, body: Body, watching: Watching): Promise<string> {
  const { batchId, setAside } = await begin(api, body);
  if (setAside) watching.onSetAside?.(setAside);
  const { signal } = watching;
  const isOver = await follow(api, batchId, watching);
  if (signal.aborted) {
    await api.call(`/rule-server/mock/batches/${batchId}`, { method: 'DELETE' });
    throw new CommandFailed(`Batch ${batchId} is being cancelled.`, exitCodes.interrupted);
  }
  if (!isOver)
    throw new CommandFailed(`How batch ${batchId} goes on is not known: no API tells.`, exitCodes.unreachable);
  return batchId;
}

/** Everything about a batch that is over; `json` as the service wrote it. */
export async function readReport(api: HttpApi, batchId: string): Promise<{ report: Report; json: string }> {
  const json = await readReportAs(api, batchId, 'json');
  return { report: reportSchema.parse(parseJson(json)), json };
}

/** A batch that is over, as a JUnit report tells it. */
export function junitBatch(
  { batchId, app, file, createdAt, targets, items }: Report,
  { ruleId, confId }: { ruleId: string | null; confId: string | null },
): JUnitBatch {
  return {
    batch: { batchId, app, ruleId, confId, file, createdAt, targets: targets.map(({ target }) => target) },
    progress: { counts: targets.map(({ counts }) => counts) },
    items,
  };
}

export async function readReportAs(api: HttpApi, batchId: string, format: string): Promise<string> {
  const { status, text } = await api.call(`/rule-server/mock/batches/${batchId}/report?format=${format}`);
  if (status === 200) return text;
  throw new CommandFailed(`The report of batch ${batchId} cannot be read: ${errorOf(text)}`, exitCodes.unknown);
}

async function begin(api: HttpApi, { text, type, query = '' }: Body): Promise<z.infer<typeof takenSchema>> {
  // A proxy before the API may send a call again when a connection breaks: under a key it still runs once.
  const headers = { 'content-type': type, 'idempotency-key': randomUUID() };
  const answer = await api.call(`/rule-server/mock/batches${query}`, { method: 'POST', headers, body: text });
  if (answer.status === 202) return takenSchema.parse(parseJson(answer.text));
  throw new CommandFailed(errorOf(answer.text), exitCodeOfRefusal(answer.status, false));
}

/** Whether the batch came to its end. Reconnects by itself, and gives up when no API had anything to tell for a while. */
async function follow(api: HttpApi, batchId: string, { signal, onProgress }: Watching): Promise<boolean> {
  for (let toldAt = Date.now(); !signal.aborted && Date.now() - toldAt < GIVE_UP_MS; ) {
    const path = `/rule-server/mock/batches/${batchId}/events`;
    const response = await api.open(path, { headers: { accept: 'text/event-stream' }, signal }).catch(() => null);
    if (response?.status === 404 || response?.status === 410) return false;
    for await (const { data } of response?.ok && response.body ? messagesIn(response.body) : []) {
      const progress = progressSchema.safeParse(parseJson(data));
      if (!progress.success) continue;
      toldAt = Date.now();
      onProgress(progress.data);
      if (progress.data.state === 'finished' || progress.data.state === 'cancelled') return true;
    }
    if (response?.ok) toldAt = Date.now();
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}

const WIDTH = 30;

/** A bar on a terminal, in one line that is drawn again and goes away at the end. */
export function showProgress(terminal: Writable) {
  const clear = () => terminal.write('\r\u001b[K');
  return {
    show({ counts }: Progress): void {
      const { pending, ...done } = counts;
      const ended = Object.values(done).reduce((sum, count) => sum + count, 0);
      const all = ended + pending;
      const full = all === 0 ? WIDTH : Math.round((ended / all) * WIDTH);
      const bad = failuresIn([counts]);
      const bar = styleText(bad > 0 ? 'red' : 'green', '█'.repeat(full), { stream: terminal });
      clear();
      terminal.write(`${bar}${'░'.repeat(WIDTH - full)} ${ended}/${all}  ${countsLine(counts)}`);
    },
    close: clear,
  };
}

/** `3 passed, 1 failed`: what there is of each verdict. */
export function countsLine(counts: Progress['counts']): string {
  const { error, ...rest } = counts;
  const named = Object.entries({ ...rest, 'in error': error }).filter(([, count]) => count > 0);
  return named.map(([name, count]) => `${count} ${name}`).join(', ') || 'nothing ran';
}

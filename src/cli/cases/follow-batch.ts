import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import type { z } from 'zod';
import { failuresIn } from '../../shared/cases/batch.ts';
import {
  type BatchBody,
  type BatchReport,
  batchBodySchema,
  batchReportSchema,
  type SetAsideBody,
} from '../../shared/contract/batches.ts';
import { eventsOf } from '../runs/event-stream.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { errorOf, type HttpApi, postOnce, readAnswer } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

const progressSchema = batchBodySchema.pick({ state: true, counts: true });
type Progress = Pick<BatchBody, 'state' | 'counts'>;

type Body = { text: string; type: string; query?: string };
const begunSchema = batchBodySchema.pick({ batchId: true, setAside: true });
/** `json`: the output is for a program, so no progress bar is drawn. */
export type Watching = {
  signal: AbortSignal;
  stderr: Surroundings['stderr'];
  json?: boolean | undefined;
  onSetAside?: (setAside: SetAsideBody) => void;
};
/** A finished batch; `json` is the service's own text. */
export type RanBatch = { batchId: string; report: BatchReport; json: string };

/** Runs a batch to its end. When `signal` aborts it is cancelled: throws `CommandFailed`. */
export async function runBatch(api: HttpApi, body: Body, watching: Watching): Promise<RanBatch> {
  refuseInterrupted(watching.signal);
  const { batchId, setAside } = await begin(api, body);
  if (setAside) watching.onSetAside?.(setAside);
  const { signal, stderr } = watching;
  const bar = stderr.isTTY && !watching.json ? showProgress(stderr) : undefined;
  const isOver = await follow(api, batchId, { signal, onProgress: (progress) => bar?.show(progress) }).finally(() =>
    bar?.close(),
  );
  if (signal.aborted) {
    await api.call(`/rule-server/mock/batches/${batchId}`, { method: 'DELETE' });
    throw new CommandFailed(`Batch ${batchId} is being cancelled.`, exitCodes.interrupted);
  }
  if (!isOver)
    throw new CommandFailed(`How batch ${batchId} goes on is not known: no API tells.`, exitCodes.unreachable);
  const json = await readReportAs(api, batchId, 'json');
  return { batchId, report: readAnswer(batchReportSchema, json), json };
}

/** An interrupt before a batch is posted leaves nothing to cancel. */
export function refuseInterrupted({ aborted }: AbortSignal): void {
  if (aborted) throw new CommandFailed('It was interrupted: no batch was begun.', exitCodes.interrupted);
}

export async function readReportAs(api: HttpApi, batchId: string, format: string): Promise<string> {
  const { status, text } = await api.call(`/rule-server/mock/batches/${batchId}/report?format=${format}`);
  if (status === 200) return text;
  throw new CommandFailed(`The report of batch ${batchId} cannot be read: ${errorOf(text)}`, exitCodes.unknown);
}

async function begin(api: HttpApi, { text, type, query = '' }: Body): Promise<z.output<typeof begunSchema>> {
  const call = { headers: { 'content-type': type }, body: text };
  return readAnswer(begunSchema, await postOnce(api, `/rule-server/mock/batches${query}`, call));
}

type Following = { signal: AbortSignal; onProgress: (progress: Progress) => void };

/** Follows a batch to its end; false when nobody has news of it. */
async function follow(api: HttpApi, batchId: string, { signal, onProgress }: Following): Promise<boolean> {
  for await (const { event, data } of eventsOf(api, `batches/${batchId}`, { signal })) {
    if (event !== 'snapshot' && event !== 'progress') continue;
    const progress = readAnswer(progressSchema, data);
    onProgress(progress);
    if (progress.state === 'finished' || progress.state === 'cancelled') return true;
  }
  return false;
}

const WIDTH = 30;

/** A progress bar in one line of the terminal, redrawn in place and erased at the end. */
function showProgress(terminal: Writable) {
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

/** `3 passed, 1 failed`: the count of each verdict that occurred. */
export function countsLine(counts: Progress['counts']): string {
  const { error, ...rest } = counts;
  const named = Object.entries({ ...rest, 'in error': error }).filter(([, count]) => count > 0);
  return named.map(([name, count]) => `${count} ${name}`).join(', ') || 'nothing ran';
}

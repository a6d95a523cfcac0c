import { isEndState } from '../../shared/contract/endings/states.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { eraseAnswerSchema, QUERY_VERSION } from '../../shared/contract/query.ts';
import type { ExecutionQueue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { retry, SOON_MS, within } from '../../shared/runtime/async.ts';
import { ADDED_WITHIN_MS, type History, resultKey } from '../../shared/store/history/history.ts';
import type { IdempotencyRecords } from '../../shared/store/idempotency/idempotency-records.ts';
import type { AskWorker } from '../ask-worker.ts';
import { NewerExecution } from './read-jobs.ts';

/** `found`: whether there was anything to erase. `open`: it has not ended, or its batch has not. `unknown`: it is none the caller may know of. */
type Erased =
  | { kind: 'erased'; found: boolean }
  | { kind: 'open'; code: 'execution-open' | 'execution-in-batch' | 'execution-may-be-open' }
  | { kind: 'unknown' }
  | { kind: 'refused' };

type EraseExecutionDependencies = {
  backend: Pick<QueueBackend, 'store'>;
  queue: ExecutionQueue;
  history: History;
  records: IdempotencyRecords;
  ask: AskWorker['ask'];
  find: (mockId: string) => Promise<ExecutionRecord | null>;
  eraseItem: (mockId: string, batchId: string | null) => Promise<'erased' | 'running' | 'none'>;
};

export type EraseExecution = ReturnType<typeof createEraseExecution>;

/**
 * Removes every trace of one execution that has ended. Files come first: when no worker can remove them, everything else is
 * still there to be found and erased again. Idempotent.
 */
export function createEraseExecution({
  backend,
  queue,
  history,
  records,
  ask,
  find,
  eraseItem,
}: EraseExecutionDependencies) {
  async function untilRecorded(record: ExecutionRecord): Promise<void> {
    const look = async () => (await history.get(record.mockId)) ?? undefined;
    await retry(look, { goOn: within(ADDED_WITHIN_MS), everyMs: SOON_MS });
  }

  return async function erase(mockId: string, apps: ReadonlySet<number> | null): Promise<Erased> {
    const record = await find(mockId).catch((error) => {
      if (error instanceof NewerExecution) return 'newer' as const;
      throw error;
    });
    if (record === 'newer') return { kind: 'open', code: 'execution-open' };
    if (apps !== null && !(record && apps.has(record.app))) return { kind: 'unknown' };
    if (record && !isEndState(record.state)) return { kind: 'open', code: 'execution-open' };
    if (record) await untilRecorded(record);
    const item = record && record.batchId === null ? 'erased' : await eraseItem(mockId, record?.batchId ?? null);
    if (item === 'running') return { kind: 'open', code: 'execution-in-batch' };
    const files = await ask({ v: QUERY_VERSION, ask: 'erase', mockId, hasEnded: record !== null });
    if (files.kind === 'refused') return { kind: 'refused' };
    if (eraseAnswerSchema.parse(parseJson(files.body)).files === 'open')
      return { kind: 'open', code: 'execution-may-be-open' };
    await records.erase(mockId);
    await queue.erase(mockId);
    await backend.store.remove(resultKey(mockId));
    await history.erase(mockId);
    return { kind: 'erased', found: record !== null || item === 'erased' };
  };
}

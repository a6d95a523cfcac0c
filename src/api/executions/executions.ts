import { setTimeout } from 'node:timers/promises';
import { type ExecutionRecord, noAnswerOf } from '../../shared/contract/execution-record.ts';
import { noAnswer } from '../../shared/contract/outcomes.ts';
import { isEndState } from '../../shared/contract/states.ts';
import type { createCancelSender } from '../../shared/store/control.ts';
import { BEGINNING, type History, type HistoryFilter, type HistoryPage } from '../../shared/store/history.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';
import type { FinishedExecutions } from '../calls/await-ending.ts';
import type { Ending } from '../calls/ending.ts';
import { createReadExecution } from './read-execution.ts';

/** Events are hints; this often an execution somebody follows is looked at anyway. */
const LOOK_AGAIN_MS = 1000;
const LOOKS_WHILE_MISSING = 3;

type Dependencies = {
  queue: ExecutionQueue;
  history: History;
  finished: FinishedExecutions;
  cancels: ReturnType<typeof createCancelSender>;
  store: Store;
};

export type Executions = ReturnType<typeof createExecutions>;

/** Executions as a resource, whichever API took the call. */
export function createExecutions({ queue, history, finished, cancels, store }: Dependencies) {
  const { find, get, open } = createReadExecution({ queue, history, store });

  /** The record each time it has changed, the first at once, the last in an end state. Ends when `signal` aborts. */
  async function* follow(mockId: string, signal: AbortSignal): AsyncGenerator<ExecutionRecord> {
    let steps = 0;
    let missed = 0;
    let wake = () => {};
    const stop = finished.observe(mockId, () => wake());
    try {
      while (!signal.aborted) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const record = await find(mockId).catch(() => 'unreachable' as const); // the store comes back
        // On its way from the queue to the history it is in neither for a moment.
        if (record === null && (steps === 0 || ++missed > LOOKS_WHILE_MISSING)) return;
        if (record !== null && record !== 'unreachable') {
          if (record.history.length > steps) yield record;
          steps = Math.max(steps, record.history.length);
          if (isEndState(record.state)) return;
        }
        await Promise.race([changed, setTimeout(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {})]);
      }
    } finally {
      stop();
    }
  }

  return {
    find,
    get,
    follow,

    /** How an execution ended, waiting for it; null when nobody knows it, or `signal` aborts first. */
    async ending(mockId: string, signal: AbortSignal): Promise<Ending | null> {
      for await (const record of follow(mockId, signal)) {
        if (!isEndState(record.state)) continue;
        const { result } = (await get(mockId)) ?? { result: null };
        if (record.outcome?.code === null && result !== null)
          return { kind: 'answered', mockId, address: record.address ?? '', body: result };
        if (record.outcome?.code) return { kind: 'unanswered', mockId, noAnswer: noAnswerOf(record, result ?? '') };
      }
      return null;
    },

    /** Newest first; what is still on its way comes first of all. */
    async list(filter: HistoryFilter): Promise<HistoryPage> {
      if (filter.cursor !== undefined) return history.list(filter);
      const onTheirWay = await open(filter);
      const left = filter.limit - onTheirWay.length;
      if (left <= 0) return { records: onTheirWay, nextCursor: BEGINNING };
      const page = await history.list({ ...filter, limit: left });
      const settled = new Set(page.records.map(({ mockId }) => mockId));
      return { ...page, records: [...onTheirWay.filter(({ mockId }) => !settled.has(mockId)), ...page.records] };
    },

    /** Asks for an execution to be stopped. `settled` and `cancelled`: it had ended already. */
    async cancel(mockId: string): Promise<'asked' | 'settled' | 'cancelled' | 'unknown'> {
      const record = await find(mockId);
      if (!record) return 'unknown';
      if (isEndState(record.state)) return record.state === 'cancelled' ? 'cancelled' : 'settled';
      // Workers hear of it before it leaves the queue: whoever adds it again because it is missing adds a cancelled one.
      await cancels.send({ mockId, why: 'asked' });
      const error = `Execution ${mockId} was cancelled before a worker began it. It did not run.`;
      if (finished.mayHaveBegun(mockId, record.history[0]?.at ?? 0)) return 'asked';
      await finished.takeBack(mockId, noAnswer('cancelled', error, { mayHaveRun: false }));
      return 'asked';
    },
  };
}

import { answered, type Ending, type ReadResult, unanswered } from '../../shared/contract/ending.ts';
import { type ExecutionRecord, endingOf } from '../../shared/contract/execution-record.ts';
import { sentences } from '../../shared/contract/sentences.ts';
import { isEndState } from '../../shared/contract/states.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { createCancelSender } from '../../shared/store/control.ts';
import { BEGINNING, type History, type HistoryFilter, type HistoryPage } from '../../shared/store/history.ts';
import type { ReadShortJobs } from '../../shared/store/job-heads.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';
import type { PendingExecutions } from '../calls/await-ending.ts';
import type { ReadAnswer } from '../calls/read-answer.ts';
import { createFollow } from './follow-execution.ts';
import { isAfter, openAfter, openCursor } from './open-cursor.ts';
import { createReadExecution } from './read-execution.ts';

const MAX_LISTED_INPUT = 4 * 1024;

type Dependencies = {
  queue: ExecutionQueue;
  readShortJobs: ReadShortJobs;
  history: History;
  privacy: Privacy;
  pending: PendingExecutions;
  cancels: ReturnType<typeof createCancelSender>;
  readAnswer: ReadAnswer;
  store: Pick<Store, 'get'>;
};

export type Executions = ReturnType<typeof createExecutions>;

/** Executions as a resource, whichever API took the call. */
export function createExecutions(dependencies: Dependencies) {
  const { history, privacy, pending, cancels } = dependencies;
  const { open, ...reads } = createReadExecution(dependencies);
  const { find, whole } = reads;
  const follow = createFollow(find, pending);

  return {
    ...reads,
    follow,

    /** Waits for the end of an execution and tells how it ended; null when it is unknown, or `signal` aborts first. */
    async ending(mockId: string, signal: AbortSignal): Promise<Ending<ReadResult> | null> {
      for await (const record of follow(mockId, signal)) {
        if (!isEndState(record.state)) continue;
        const { result } = (await whole(mockId)) ?? { result: null };
        const ending = endingOf(record, result);
        if (ending?.kind === 'unanswered') return ending;
        if (ending && result !== null) return answered({ ...ending.result, body: result });
        if (ending && privacy.isOff(record.app)) return unanswered(sentences.answerGone({ mockId, ...ending.result }));
      }
      return null;
    },

    /** Newest first; what is still on its way comes first of all. */
    async list(filter: HistoryFilter): Promise<HistoryPage> {
      const after = openAfter(filter.cursor);
      if (after === null) return history.list(filter);
      const { limit, cursor: _, ...rest } = filter;
      const all = (await open(rest)).filter((record) => isAfter(record, after));
      const onTheirWay = all.slice(0, limit);
      const last = onTheirWay.at(-1);
      if (last && all.length > limit) return { records: onTheirWay, nextCursor: openCursor(last) };
      const left = limit - onTheirWay.length;
      if (left <= 0) return { records: onTheirWay, nextCursor: BEGINNING };
      const page = await history.list({ ...rest, limit: left });
      const settled = new Set(page.records.map(({ mockId }) => mockId));
      return { ...page, records: [...onTheirWay.filter(({ mockId }) => !settled.has(mockId)), ...page.records] };
    },

    /** The inputs of executions, null for what is not settled, not kept or longer than a list may show. */
    shortInputs: (records: readonly ExecutionRecord[]): Promise<(string | null)[]> =>
      Promise.all(records.map((record) => shortInput(record, { history, privacy }))),

    /** Asks for an execution to be stopped. `settled` and `cancelled`: it had ended already. */
    async cancel(mockId: string): Promise<'asked' | 'settled' | 'cancelled' | 'unknown'> {
      const record = await find(mockId);
      if (!record) return 'unknown';
      if (isEndState(record.state)) return record.state === 'cancelled' ? 'cancelled' : 'settled';
      // Ask the workers before the job is removed: another API may wait for it, find it missing and re-enqueue it. Then they refuse it.
      await cancels.send({ mockId, why: 'asked' });
      if (pending.mayHaveBegun(mockId, record.history[0]?.at ?? 0)) return 'asked';
      await pending.cancel(mockId);
      return 'asked';
    },
  };
}

async function shortInput(
  { app, mockId, outcome }: ExecutionRecord,
  { history, privacy }: Pick<Dependencies, 'history' | 'privacy'>,
): Promise<string | null> {
  const input = outcome === null || privacy.isOff(app) ? null : await history.input(mockId);
  if (input === null || input.length > MAX_LISTED_INPUT) return null;
  return privacy.maskFor(app)?.data(input) ?? input;
}

import { answered, type Ending, type ReadResult, unanswered } from '../../shared/contract/endings/ending.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { isEndState } from '../../shared/contract/endings/states.ts';
import { type ExecutionRecord, endingOf } from '../../shared/contract/execution-record.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { createCancelSender } from '../../shared/queue/cancels.ts';
import type { ExecutionQueue } from '../../shared/queue/queue.ts';
import { historyLimitsOf, type Settings } from '../../shared/runtime/settings/settings.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { PendingExecutions } from '../calls/pending-executions.ts';
import type { ReadAnswer } from '../calls/submit-execution.ts';
import { createFollow } from './follow-execution.ts';
import { createListExecutions } from './list-executions.ts';
import { createReadExecution } from './read-execution.ts';

type ExecutionsDependencies = {
  queue: ExecutionQueue;
  history: History;
  privacy: Privacy;
  pending: PendingExecutions;
  cancels: ReturnType<typeof createCancelSender>;
  readAnswer: ReadAnswer;
  settings: Settings;
};

export type Executions = ReturnType<typeof createExecutions>;

/** Executions as a resource, whichever API took the call. */
export function createExecutions(dependencies: ExecutionsDependencies) {
  const { history, privacy, pending, cancels, settings } = dependencies;
  const { pins } = history;
  const { open, ...reads } = createReadExecution(dependencies);
  const lists = createListExecutions({ history, privacy, open });
  const { find, whole } = reads;
  const follow = createFollow(find, pending);

  return {
    ...reads,
    ...lists,
    pins,
    follow,

    /** How much is kept, within which limits, and how long a call waits at the most. */
    async kept() {
      return { ...(await history.kept()), ...limitsOf(settings) };
    },

    /** How long an execution is kept at the most: epoch ms, null for one that is pinned or has not ended. */
    async keptUntil({
      mockId,
      ending,
      history: steps,
    }: ExecutionRecord): Promise<{ pinned: boolean; keptUntil: number | null }> {
      const isPinned = (await pins.get(mockId)) !== null;
      const endedAt = steps.at(-1)?.at ?? 0;
      return {
        pinned: isPinned,
        keptUntil: isPinned || ending === null ? null : endedAt + settings.HISTORY_SECONDS * 1000,
      };
    },

    /** Waits for the ending of an execution; null when it is unknown, or `signal` aborts first. */
    async ending(mockId: string, signal: AbortSignal): Promise<Ending<ReadResult> | null> {
      for await (const record of follow(mockId, signal)) {
        if (!isEndState(record.state)) continue;
        const { result } = (await whole(mockId)) ?? { result: null };
        const ending = endingOf(record, result);
        if (ending?.kind === 'unanswered') return ending;
        if (ending && result !== null) return answered({ ...ending.result, body: result });
        if (ending && privacy.isOff(record.app))
          return unanswered(noAnswer('answer-gone', { mockId, address: ending.result.address }));
      }
      return null;
    },

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

function limitsOf(settings: Settings) {
  const { count, seconds, bytes } = historyLimitsOf(settings);
  const waits = { worker: settings.QUEUE_TIMEOUT_MS, client: settings.RESULT_TIMEOUT_MS };
  return { limits: { executions: count, seconds, bytes }, waits };
}

import { type Ending, unanswered } from '../../shared/contract/endings/ending.ts';
import { endingOfAddedAgain, readEnding } from '../../shared/contract/endings/job-ending.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { type ExecutionRecord, endingOf } from '../../shared/contract/execution-record.ts';
import type { JobData } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import type { ExecutionQueue } from '../../shared/queue/executions.ts';
import { type AwaitedJob, followJobs } from '../../shared/queue/follow-jobs.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { QueueHealth } from '../queue-health.ts';
import type { Fence } from './fence.ts';
import { createReEnqueue } from './re-enqueue.ts';
import { createRevoke } from './revoke.ts';

/** A worker may take a job at the last moment: this API waits this much longer to see it. */
const CLAIM_SLACK_MS = 250;
/** Workers come back to a queue store that was away within this time. */
const TAKEN_UP_WITHIN_MS = 10_000;

type PendingExecutionsDependencies = {
  backend: Pick<QueueBackend, 'inTime'>;
  queue: ExecutionQueue;
  connection: { readonly lostAt: number };
  history: History;
  health: Pick<QueueHealth, 'workers' | 'problems'>;
  fence: Fence;
  onEnded: (record: ExecutionRecord) => void;
  log: Logger;
};

export type PendingExecutions = ReturnType<typeof openPendingExecutions>;

/**
 * Lets calls wait for their ending. A job that the queue store lost is re-enqueued; one that no worker begins in time is
 * revoked.
 */
export function openPendingExecutions(dependencies: PendingExecutionsDependencies) {
  const { connection, history, health } = dependencies;
  const jobs = followJobs<JobData, Ending>({
    ...dependencies,
    read: readEnding,
    onUnfinished: (mockId, awaited, state) => (state === 'missing' ? recover : recheck)(mockId, awaited),
  });
  const reEnqueues = createReEnqueue(dependencies);
  const { cancel, revokeNeverTaken, revokeUnfenced, record, isUnderWay } = createRevoke({
    ...dependencies,
    onRevoked: (mockId, noAnswer) => jobs.settle(mockId, unanswered(noAnswer)),
    isOwnAdd: (mockId, { replyTo, addedAgain }) =>
      replyTo === jobs.replyTo && !addedAgain && reEnqueues.isAdded(mockId),
  });

  async function recover(mockId: string, { data }: AwaitedJob<JobData>): Promise<void> {
    const ending = await endingInHistory(history, mockId);
    if (ending) return void jobs.settle(mockId, ending);
    if (!isUnderWay(mockId)) await reEnqueues.reEnqueue(mockId, data);
  }

  async function recheck(mockId: string, awaited: AwaitedJob<JobData>): Promise<void> {
    const { claimBy } = awaited.data;
    const takenBy = Math.max(claimBy + CLAIM_SLACK_MS, (reEnqueues.at(mockId) ?? 0) + TAKEN_UP_WITHIN_MS);
    if (time.now() < takenBy) awaited.recheckAt = Math.min(awaited.recheckAt, takenBy);
    else if (mayHaveBegun(mockId, awaited.since)) await revokeUnfenced(mockId, noAnswer('store-was-away', { mockId }));
    else await revokeNeverTaken(mockId, neverTaken(awaited.data, health));
  }

  /** Whether the queue store may have forgotten that a worker began it: it lost its data or its last second. */
  function mayHaveBegun(mockId: string, since: number): boolean {
    return reEnqueues.at(mockId) !== undefined || connection.lostAt >= since;
  }

  return {
    ready: jobs.ready,
    /** Jobs that are added here carry it, so that their endings are told here. */
    replyTo: jobs.replyTo,
    /** The queue store took its job. From now on it is added again if the store loses it. */
    added: reEnqueues.added,
    ...{ settle: jobs.settle, isAwaited: jobs.isAwaited, observe: jobs.observe, close: jobs.close },
    cancel,
    mayHaveBegun,
    get waiting() {
      return jobs.waiting;
    },
    /** Waits for the end of one execution, at most `timeoutMs`. Call it before the job is added, and `added` once it is. */
    async wait(mockId: string, data: JobData, timeoutMs: number): Promise<Ending> {
      const queuedAt = time.now();
      reEnqueues.waits(mockId);
      try {
        const told = await jobs.wait(mockId, data, timeoutMs, () => endingAtLast(dependencies, mockId, timeoutMs));
        const ending = reEnqueues.at(mockId) === undefined ? told : endingOfAddedAgain(mockId, told);
        const isUnrecorded = ending.kind === 'unanswered' && ending.noAnswer.unrecorded;
        if (isUnrecorded) await record({ mockId, data, queuedAt }, ending.noAnswer);
        return ending;
      } finally {
        reEnqueues.forget(mockId);
      }
    },
  };
}

/** When the connection to the queue store was lost last, epoch ms. Starts with now: of the time before it, this process knows nothing. */
export function watchConnection() {
  let lostAt = time.now();
  return {
    get lostAt() {
      return lostAt;
    },
    lost(): void {
      lostAt = time.now();
    },
  };
}

/** Where no worker can say whether its key is claimed, an earlier call may have run that the queue store has forgotten. */
function neverTaken({ target, once }: JobData, { workers, problems }: Pick<QueueHealth, 'workers' | 'problems'>) {
  const [fault] = problems;
  if (workers > 0) return noAnswer('never-begun', { target });
  if (once !== undefined) return noAnswer('no-worker-for-keyed', { fault });
  return fault === undefined ? noAnswer('no-worker', {}) : noAnswer('no-worker-can', { fault });
}

/** The wait is over. Only the history may tell how it ended. */
async function endingAtLast(
  { backend, history }: PendingExecutionsDependencies,
  mockId: string,
  timeoutMs: number,
): Promise<Ending> {
  const known = await backend.inTime(endingInHistory(history, mockId)).catch(() => null);
  return known ?? unanswered(noAnswer('never-reported', { mockId, timeoutMs }));
}

/** The queue store may have lost a job whose ending the history has. */
async function endingInHistory(history: History, mockId: string): Promise<Ending | null> {
  const record = await history.get(mockId);
  return record?.ending ? endingOf(record, await history.result(mockId)) : null;
}

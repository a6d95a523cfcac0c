import { z } from 'zod';
import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import { type Ending, unanswered } from '../../shared/contract/endings/ending.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import {
  type ExecutionRecord,
  endingOf,
  endingOfAddedAgain,
  type Queued,
  readEnding,
  toSettled,
} from '../../shared/contract/execution-record.ts';
import { type JobData, jobDataSchema, type Once } from '../../shared/contract/job.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { time } from '../../shared/ports/time.ts';
import { type AwaitedJob, followJobs } from '../../shared/queue/follow-jobs.ts';
import { addExecution, type ExecutionQueue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { asFault } from '../../shared/reasons/template.ts';
import { AWAY_MS, STORE_BACK_WITHIN_MS } from '../../shared/runtime/async.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { QueueHealth } from '../queue-health.ts';

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
  const { connection, history, health, queue, log } = dependencies;
  const losses = createThrottledAlert(log, 'The queue store lost executions');
  const jobs = followJobs<JobData, Ending>({
    ...dependencies,
    read: readEnding,
    known: (mockId) => endingInHistory(history, mockId),
    inDoubt: endingOfAddedAgain,
    onUnfinished: (mockId, call, state) => (state === 'open' ? recheck(mockId, call) : addAgain(mockId, call)),
  });
  const { cancel, revokeNeverTaken, revokeUnfenced, record, isUnderWay } = createRevoke({
    ...dependencies,
    onRevoked: (mockId, noAnswer) => jobs.settle(mockId, unanswered(noAnswer)),
    isOwnAdd: (mockId, { replyTo, addedAgain }) =>
      replyTo === jobs.replyTo && !addedAgain && jobs.awaited(mockId)?.isAdded === true,
  });

  /**
   * Adds a job again that the queue store lost, under the same id. That is harmless: the claim in the shared directory
   * keeps an execution from being dispatched twice. But while a call still adds its job, nobody else does: should that fail, its caller is told
   * that it did not run.
   *
   * When a queue store loses its data:
   * - Calls that wait: `followJobs` notices it, looks into the history first, and has the job added again here. `submit-execution.ts` adds one
   *   whose reply was lost. No such attempt counts as the first one (`worker/process/worker.ts`), and `begin.ts` believes the count of
   *   attempts only in the same run of the store. The worker that still has the execution joins both jobs (`worker.ts`). An answer is kept for half
   *   a minute after its job was completed (`worker/files/kept-answers.ts`).
   * - Of a call that was on the queue, "did not run" is said only where no worker can begin it any more: a worker wrote a refusal in the place of
   *   the claim (`begin.ts`; asked by `revoke`, and for keyed calls by `run-once.ts`), or none runs at all and this API put the job on the
   *   queue itself, once and confirmed (`isOwnAdd`). Otherwise it may have run, and the ending says so.
   * - Batches whose record is left: `worker/batches/batch-worker.ts` adds the job, `follow-items.ts` the items; `high-water-marks.ts` with
   *   `resolve-doubt.ts` keep items from running twice.
   * - Keyed calls and batches: a repeat meets the claim of the first one, which its key guards (`worker/files/claims/claims.ts`).
   * - Sessions, history, pins, batches and idempotency records that were lost are gone.
   */
  async function addAgain(mockId: string, call: AwaitedJob<JobData>): Promise<void> {
    if (!call.isAdded || isUnderWay(mockId)) return;
    losses.begins(new Error(`it knows nothing of ${mockId}`), 'they are re-enqueued under the same ids');
    call.againAt = time.now();
    await addExecution(queue, mockId, { ...call.data, addedAgain: true });
  }

  async function recheck(mockId: string, call: AwaitedJob<JobData>): Promise<void> {
    const takenBy = Math.max(call.data.claimBy + AWAY_MS, (call.againAt ?? 0) + STORE_BACK_WITHIN_MS);
    if (time.now() < takenBy) call.recheckAt = Math.min(call.recheckAt, takenBy);
    else if (mayHaveBegun(mockId, call.since)) await revokeUnfenced(mockId, noAnswer('store-was-away', { mockId }));
    else await revokeNeverTaken(mockId, neverTaken(call.data, health));
  }

  /** Whether the queue store may have forgotten that a worker began it: it lost its data or its last second. */
  function mayHaveBegun(mockId: string, since: number): boolean {
    return jobs.awaited(mockId)?.againAt !== undefined || connection.lostAt >= since;
  }

  return {
    ready: jobs.ready,
    /** Jobs that are added here carry it, so that their endings are published to this API. */
    replyTo: jobs.replyTo,
    /** The queue store took its job. From now on it is added again if the store loses it. */
    added: jobs.added,
    ...{ settle: jobs.settle, isAwaited: jobs.isAwaited, observe: jobs.observe, close: jobs.close },
    cancel,
    mayHaveBegun,
    get waiting() {
      return jobs.waiting;
    },
    /** Waits for the end of one execution, at most `timeoutMs`. Call it before the job is added, and `added` once it is. */
    async wait(mockId: string, data: JobData, timeoutMs: number): Promise<Ending> {
      const queuedAt = time.now();
      const atLast = () => endingAtLast(dependencies, mockId, timeoutMs);
      const ending = await jobs.wait(mockId, data, timeoutMs, atLast).finally(losses.ends);
      if (ending.kind === 'unanswered' && ending.noAnswer.unrecorded)
        await record({ mockId, data, queuedAt }, ending.noAnswer);
      return ending;
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

/**
 * No worker has begun the job in time. An earlier call under its key may have run, of which the queue store lost the record: only a worker could
 * tell, by the claim of the key.
 */
function neverTaken({ target, once }: JobData, { workers, problems }: Pick<QueueHealth, 'workers' | 'problems'>) {
  const [fault] = problems;
  if (workers > 0) return noAnswer('never-begun', { target });
  if (once !== undefined) return noAnswer('no-worker-for-keyed', fault ? asFault(fault) : {});
  return fault ? noAnswer('no-worker-can', asFault(fault)) : noAnswer('no-worker', {});
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

type RevokeDependencies = {
  queue: ExecutionQueue;
  history: History;
  fence: Fence;
  /** The job is off the queue, and this is how its execution ended. */
  onRevoked: (mockId: string, noAnswer: NoAnswer) => void;
  onEnded: (record: ExecutionRecord) => void;
  /** Whether this process put exactly this job on the queue, once, and the queue store confirmed it. */
  isOwnAdd: (mockId: string, data: JobData) => boolean;
  log: Logger;
};

/** Ends executions that no worker began. */
function createRevoke(dependencies: RevokeDependencies) {
  const { queue, fence, onRevoked, isOwnAdd } = dependencies;
  const record = createRecord(dependencies);
  const underWay = new Set<string>();

  /**
   * Takes a job that no worker has begun off the queue and ends its execution as `decide` says. False when a worker began it or may have,
   * and when `decide` has no ending yet.
   */
  async function takeOff(mockId: string, decide: (data: JobData) => Promise<NoAnswer | undefined>): Promise<boolean> {
    // Once a worker began it, only a worker can tell how it ended. This asks every 2 s for each open call, so it reads no input.
    const [short] = await queue.readShort([mockId]);
    if (!short || short.begun) return false;
    const job = await queue.read(mockId);
    if (!job) return false;
    const data = jobDataSchema.parse(job.data);
    underWay.add(mockId); // a re-check that comes now must not re-enqueue it
    let noAnswer: NoAnswer | undefined;
    try {
      noAnswer = await decide(data);
      // A re-enqueued job may have run before Redis lost it: never end it with `mayHaveRun: false`.
      if (!noAnswer || (data.addedAgain && !noAnswer.mayHaveRun)) return false;
      if (!(await queue.removeWaiting(mockId))) return false;
      onRevoked(mockId, noAnswer);
    } finally {
      underWay.delete(mockId);
    }
    await record({ mockId, data, queuedAt: job.addedAt }, noAnswer);
    // Only now: an API that looks before finds neither job nor record, and looks again.
    await queue.tellChange(mockId, data.replyTo);
    return true;
  }

  /** Ends an execution of which nobody is told that it did not run, or that no worker could begin. */
  const revokeUnfenced = (mockId: string, noAnswer: NoAnswer): Promise<boolean> =>
    takeOff(mockId, async () => noAnswer);

  /**
   * Ends an execution that did not run. A queue store that loses its last second brings its job back, and a worker whose clock is behind
   * begins it even after `claimBy`. So before anybody is told that it did not run, a worker writes a refusal in the place of its claim.
   * `inDoubt`: the ending when no worker could tell; without it, the execution stays open and this is tried again.
   */
  const revoke = (mockId: string, didNotRun: NoAnswer, inDoubt?: NoAnswer): Promise<boolean> =>
    takeOff(mockId, async ({ claimBy, once }) => {
      const fenced = await fence(mockId, claimBy, once);
      if (fenced === 'claimed') return undefined;
      return fenced === 'fenced' ? didNotRun : inDoubt;
    });

  /** Cancels an execution that no worker has begun. */
  const cancel = (mockId: string): Promise<boolean> =>
    revoke(mockId, noAnswer('cancelled-in-queue', { mockId }), noAnswer('cancelled-in-doubt', { mockId }));

  /**
   * No worker began it in time. Where none runs, none can write the refusal, and none is there to begin it. The job itself must then tell that it
   * is the first one of its id: after a loss of the queue store, the repeat of a keyed call at another API adds that id again.
   */
  const revokeNeverTaken = (mockId: string, didNotRun: NoAnswer): Promise<boolean> =>
    didNotRun.code === 'no-worker'
      ? takeOff(mockId, async (data) =>
          isOwnAdd(mockId, data) ? didNotRun : noAnswer('no-worker-in-doubt', { mockId }),
        )
      : revoke(mockId, didNotRun);

  return { cancel, revokeNeverTaken, revokeUnfenced, record, isUnderWay: (mockId: string) => underWay.has(mockId) };
}

/** Adds the record of an execution that no worker began. */
function createRecord({ history, onEnded, log }: RevokeDependencies) {
  return async (queued: Queued, noAnswer: NoAnswer): Promise<void> => {
    const settled = toSettled(queued, unanswered(noAnswer), time.now());
    onEnded(settled.record);
    await history.add(settled).catch((error) => {
      log.warn({ mockId: queued.mockId, err: error }, 'an execution that no worker began is missing in the history');
    });
  };
}

// The guard of a revocation.

/** A worker answers within this time, or the caller is told that it is not known. */
const ANSWERED_WITHIN_MS = 1000;

/** `fenced`: no worker can begin that execution any more. `claimed`: a worker has begun it. `unknown`: no worker could tell. */
type Fenced = 'fenced' | 'claimed' | 'unknown';

const fenceAnswer = z.object({ decision: z.enum(['fenced', 'claimed']) });

type FenceRequestDependencies = { ask: AskWorker['ask']; onFenced: (outcome: Fenced) => void };

export type Fence = ReturnType<typeof createFenceRequest>;

/** Has a worker write a refusal in the place of a claim, so that an execution that may be on its way cannot begin any more. */
export function createFenceRequest({ ask, onFenced }: FenceRequestDependencies) {
  async function askForIt(mockId: string, claimBy: number, once?: Once): Promise<Fenced> {
    if (claimMayBeSwept(claimBy, time.isPast)) return 'unknown';
    const reply = await ask({ v: QUERY_VERSION, ask: 'fence', mockId, claimBy, once }, ANSWERED_WITHIN_MS);
    if (reply.kind === 'refused') return 'unknown';
    return fenceAnswer.safeParse(parseJson(reply.body)).data?.decision ?? 'unknown';
  }

  /** `once`: of a keyed call, whose key an earlier execution may hold that the queue store has forgotten. */
  return async function fence(mockId: string, claimBy: number, once?: Once): Promise<Fenced> {
    const outcome = await askForIt(mockId, claimBy, once);
    onFenced(outcome);
    return outcome;
  };
}

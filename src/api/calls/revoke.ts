import { unanswered } from '../../shared/contract/endings/ending.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { type ExecutionRecord, type Queued, toSettled } from '../../shared/contract/execution-record.ts';
import { type JobData, jobDataSchema } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import type { ExecutionQueue } from '../../shared/queue/executions.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { Fence } from './fence.ts';

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
export function createRevoke(dependencies: RevokeDependencies) {
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

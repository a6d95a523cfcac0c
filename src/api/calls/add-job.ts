import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { JobData } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import type { Backlog } from '../../shared/queue/backlog.ts';
import type { createCancelSender } from '../../shared/queue/cancels.ts';
import { addExecution, type ExecutionQueue } from '../../shared/queue/executions.ts';
import { resultWithin } from '../../shared/runtime/at-most.ts';
import { persist } from '../../shared/runtime/retry.ts';
import type { ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import { wasNotSent, wasRefused } from '../../shared/store/store-error.ts';
import { STORE_ADVICE } from '../queue-health.ts';

type AddJobDependencies = {
  queue: ExecutionQueue;
  cancels: ReturnType<typeof createCancelSender>;
  backlog: Pick<Backlog, 'added'>;
  storeAlert: ThrottledAlert;
};

type Added = 'added' | NoAnswer;
type Of = { isKeyed: boolean; end: Promise<unknown> };

/**
 * Adds the job of a call to the queue. Resolves to the ending for its caller if that failed. A store that is busy may take its time,
 * and one that lost the connection is asked again: only `claimBy` ends the wait.
 */
export function createAddJob({ queue, backlog, cancels, storeAlert }: AddJobDependencies) {
  /** `end`: of the execution. Once it has come, a reply that was lost does not matter. */
  return async function addJob(mockId: string, data: JobData, { isKeyed, end }: Of): Promise<NoAnswer | undefined> {
    backlog.added();
    let isOver = false;
    const over = (): Added => {
      isOver = true;
      return 'added';
    };
    const stored = Promise.race([addOrAddAgain(mockId, data, () => isOver), end.then(over)]);
    const outcome = await resultWithin(data.claimBy - time.now(), { of: stored, late: () => undefined });
    if (outcome !== undefined) return outcome === 'added' ? undefined : outcome;
    // A keyed call goes on if its job is there: the repeat of the call joins it.
    if (!isKeyed) void removeWhenBack(mockId, data);
    return noAnswer('not-confirmed', { mockId });
  };

  async function addOrAddAgain(mockId: string, data: JobData, isOver: () => boolean): Promise<Added | undefined> {
    try {
      await addExecution(queue, mockId, data);
      return 'added';
    } catch (error) {
      storeAlert.begins(error, STORE_ADVICE);
      if (wasNotSent(error)) return noAnswer('not-sent', { why: wasRefused(error) ? 'refused-it' : 'away' });
    }
    // The store took it or not before the connection was lost. A job that is there is not added a second time.
    return persist<Added>(data.claimBy, async () => {
      // Another API may have taken it off the queue since: then it must not come back.
      if (!isOver() && time.now() < data.claimBy) await addExecution(queue, mockId, { ...data, addedAgain: true });
      return 'added';
    });
  }

  /**
   * The caller got `outcome-unknown`. Once the queue store is back: remove the job if it is still queued, else ask the workers to
   * cancel it unless it was picked up. No API waits for it any more, so none re-enqueues it: once it is off the queue, no worker has to
   * be told.
   */
  async function removeWhenBack(mockId: string, { claimBy }: JobData): Promise<void> {
    const removed = await persist(claimBy, () => queue.removeWaiting(mockId));
    if (!removed) await persist(claimBy, () => cancels.send({ mockId, why: 'caller-left' }));
  }
}

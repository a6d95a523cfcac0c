import type { JobData } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import type { ThrottledAlert } from '../../shared/runtime/logger.ts';
import type { createCancelSender } from '../../shared/store/control.ts';
import { addExecution } from '../../shared/store/job-heads.ts';
import type { ExecutionQueue, QueueBackend } from '../../shared/store/queue-backend.ts';
import { wasNotSent, wasRefused } from '../../shared/store/store-error.ts';
import { STORE_ADVICE } from '../queue-health.ts';
import { endings } from './endings.ts';
import { persist } from './persist.ts';

type Dependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  cancels: ReturnType<typeof createCancelSender>;
  storeAlert: ThrottledAlert;
};

/** Adds the job of a call to the queue. Resolves to the ending for its caller if the store did not confirm it. */
export function createAddJob({ backend, queue, cancels, storeAlert }: Dependencies) {
  return async function addJob(mockId: string, data: JobData, isKeyed: boolean): Promise<NoAnswer | undefined> {
    try {
      await backend.inTime(addExecution(queue, mockId, data));
      return undefined;
    } catch (error) {
      storeAlert.begins(error, STORE_ADVICE);
      if (wasNotSent(error)) return endings.notSent(wasRefused(error) ? 'refused the execution' : 'cannot be reached');
      // A keyed call goes on if its job is there: the repeat of the call joins it.
      if (!isKeyed) void removeWhenBack(mockId, data);
      return endings.notConfirmed(mockId);
    }
  };

  /**
   * The caller got `outcome-unknown`. Once the queue store is back: remove the job if it is still queued, else ask the workers to
   * cancel it unless it was picked up. No API waits for it any more, so none re-enqueues it: once it is off the queue, no worker has to
   * be told.
   */
  async function removeWhenBack(mockId: string, { claimBy }: JobData): Promise<void> {
    const removed = await persist(claimBy, () => backend.removeWaiting(queue, mockId));
    if (!removed) await persist(claimBy, () => cancels.send({ mockId, why: 'caller-left' }));
  }
}

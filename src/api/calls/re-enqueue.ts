import type { JobData } from '../../shared/contract/job.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { time } from '../../shared/seams/time.ts';
import { addExecution } from '../../shared/store/job-heads.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';

/**
 * Adds jobs again that the queue store lost, under the same ids. That is harmless: the claim in the shared directory
 * keeps an execution from being dispatched twice. But while a call still adds its job, nobody else does: should that fail, its caller is told
 * that it did not run.
 */
export function createReEnqueue({ queue, log }: { queue: ExecutionQueue; log: Logger }) {
  const reEnqueuedAt = new Map<string, number>();
  /** By call that waits, whether the queue store has taken its job. */
  const isAdded = new Map<string, boolean>();
  const losses = createThrottledAlert(log, 'The queue store lost executions');

  return {
    /** A call begins to wait. Its job is about to be added. */
    waits: (mockId: string) => void isAdded.set(mockId, false),
    /** The queue store took its job. */
    added(mockId: string): void {
      if (isAdded.has(mockId)) isAdded.set(mockId, true);
    },
    async reEnqueue(mockId: string, lost: JobData): Promise<void> {
      if (!isAdded.get(mockId)) return;
      losses.begins(new Error(`it knows nothing of ${mockId}`), 'they are re-enqueued under the same ids');
      reEnqueuedAt.set(mockId, time.now());
      const data: JobData = { ...lost, addedAgain: true };
      await addExecution(queue, mockId, data);
    },
    /** When it was re-enqueued last, epoch ms. */
    at: (mockId: string) => reEnqueuedAt.get(mockId),
    forget(mockId: string): void {
      reEnqueuedAt.delete(mockId);
      isAdded.delete(mockId);
      losses.ends();
    },
  };
}

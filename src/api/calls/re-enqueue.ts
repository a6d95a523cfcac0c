import type { JobData } from '../../shared/contract/job.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { time } from '../../shared/seams/time.ts';
import { addExecution } from '../../shared/store/job-heads.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';

/**
 * Adds jobs again that the queue store lost, under the same ids. That is harmless: the claim in the shared directory
 * keeps an execution from being dispatched twice.
 */
export function createReEnqueue({ queue, log }: { queue: ExecutionQueue; log: Logger }) {
  const reEnqueuedAt = new Map<string, number>();
  const losses = createThrottledAlert(log, 'The queue store lost executions');

  return {
    async reEnqueue(mockId: string, lost: JobData): Promise<void> {
      losses.begins(new Error(`it knows nothing of ${mockId}`), 'they are re-enqueued under the same ids');
      reEnqueuedAt.set(mockId, time.now());
      const data: JobData = { ...lost, addedAgain: true };
      await addExecution(queue, mockId, data);
    },
    /** When it was re-enqueued last, epoch ms. */
    at: (mockId: string) => reEnqueuedAt.get(mockId),
    forget(mockId: string): void {
      reEnqueuedAt.delete(mockId);
      losses.ends();
    },
  };
}

import type { JobData } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import { addExecution, type ExecutionQueue } from '../../shared/queue/executions.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';

/**
 * Adds jobs again that the queue store lost, under the same ids. That is harmless: the claim in the shared directory
 * keeps an execution from being dispatched twice. But while a call still adds its job, nobody else does: should that fail, its caller is told
 * that it did not run.
 *
 * When a queue store loses its data:
 * - Calls that wait: `pending-executions.ts` notices it, looks into the history first, and has the job added again here. `add-job.ts` adds one
 *   whose reply was lost. No such attempt counts as the first one (`worker/execution/process-job.ts`), and `begin.ts` believes the count of
 *   attempts only in the same run of the store. The worker that still has the execution joins both jobs (`process-job.ts`). An answer that came meanwhile was kept (`worker/files/results/kept-answers.ts`).
 * - Of a call that was on the queue, "did not run" is said only where no worker can begin it any more: a worker wrote a refusal in the place of
 *   the claim (`begin.ts`; asked by `revoke.ts`, and for keyed calls by `run-once.ts`), or none runs at all and this API put the job on the
 *   queue itself, once and confirmed (`isOwnAdd` in `revoke.ts`). Otherwise it may have run, and the ending says so.
 * - Batches whose record is left: `worker/batches/batch-worker.ts` adds the job, `follow-items.ts` the items; `marks.ts` with
 *   `resolve-doubt.ts` keep items from running twice.
 * - Keyed calls and batches: a repeat meets the claim of the first one, which its key guards (`worker/files/claims/keys.ts`).
 * - Sessions, history, pins, batches and notes that were lost are gone.
 */
export function createReEnqueue({ queue, log }: { queue: ExecutionQueue; log: Logger }) {
  /** The calls that wait: whether the queue store has taken their job, and when it was added again last, epoch ms. */
  const calls = new Map<string, { isAdded: boolean; againAt?: number }>();
  const losses = createThrottledAlert(log, 'The queue store lost executions');

  return {
    /** A call begins to wait. Its job is about to be added. */
    waits: (mockId: string) => void calls.set(mockId, { isAdded: false }),
    /** The queue store took its job. */
    added(mockId: string): void {
      const call = calls.get(mockId);
      if (call) call.isAdded = true;
    },
    isAdded: (mockId: string) => calls.get(mockId)?.isAdded ?? false,
    async reEnqueue(mockId: string, lost: JobData): Promise<void> {
      const call = calls.get(mockId);
      if (!call?.isAdded) return;
      losses.begins(new Error(`it knows nothing of ${mockId}`), 'they are re-enqueued under the same ids');
      call.againAt = time.now();
      const data: JobData = { ...lost, addedAgain: true };
      await addExecution(queue, mockId, data);
    },
    /** When it was re-enqueued last, epoch ms. */
    at: (mockId: string) => calls.get(mockId)?.againAt,
    forget(mockId: string): void {
      calls.delete(mockId);
      losses.ends();
    },
  };
}

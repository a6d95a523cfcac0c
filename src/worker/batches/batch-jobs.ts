import { z } from 'zod';
import { time } from '../../shared/ports/time.ts';
import type { TakenJob } from '../../shared/queue/queue.ts';
import { RETRY_MS } from '../../shared/runtime/async.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import { runBatch } from './run-batch.ts';
import type { RunTargetDependencies } from './target-run.ts';

const jobSchema = z.object({ batchId: z.string() });
export type BatchJob = z.infer<typeof jobSchema>;

/** The batches that this worker runs, one job each. */
export function createBatchJobs(parts: RunTargetDependencies, { log, onFault }: { log: Logger; onFault: () => void }) {
  const running = new Map<string, AbortController>();
  const failures = createThrottledAlert(log, 'A batch cannot go on', { withStack: true });
  let stopping = false;

  return {
    /** Runs a batch to its end; else its job goes back to the queue. */
    async process(job: TakenJob): Promise<void> {
      const { batchId } = jobSchema.parse(job.data);
      const abort = new AbortController();
      if (stopping) abort.abort();
      running.get(batchId)?.abort(); // the queue store lost the job and gave it out again
      running.set(batchId, abort);
      try {
        if (await runBatch(batchId, abort.signal, parts)) {
          failures.ends();
          await job.finish({});
          return;
        }
      } catch (error) {
        onFault();
        failures.begins(error, `batch ${batchId} is tried again every ${RETRY_MS} ms`);
        await time.pause(RETRY_MS);
      } finally {
        if (running.get(batchId) === abort) running.delete(batchId);
      }
      await job.giveBack();
    },
    /** Aborts batches whose locks are lost. */
    abort(batchIds: readonly string[]): void {
      for (const id of batchIds) running.get(id)?.abort();
    },
    /** Aborts all, and those that come from now on. */
    abortAll(): void {
      stopping = true;
      for (const abort of running.values()) abort.abort();
    },
    get running() {
      return running.size;
    },
  };
}

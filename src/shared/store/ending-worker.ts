import { ErrorCode, type IQueueBackend, type Job, WaitingError, Worker } from 'bullmq';

/**
 * A BullMQ worker whose jobs fail with what their processor threw, and in no other way. BullMQ also fails a job whose
 * completion could not be written, which would put that error in the place of the result. Here such a job is left alone:
 * its lock lapses, and a worker begins it again.
 */
export class EndingWorker<Data, Result> extends Worker<Data, Result, string, IQueueBackend, object, unknown> {
  readonly #thrown = new WeakSet<object>();

  protected override async callProcessJob(
    job: Job<Data, Result, string, object>,
    token: string,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      return await super.callProcessJob(job, token, signal);
    } catch (error) {
      if (error instanceof Error) this.#thrown.add(error);
      throw error;
    }
  }

  protected override handleFailed(
    error: Error,
    job: Job<Data, Result, string, object>,
    token: string,
    fetchNext?: () => boolean,
  ): Promise<Job<Data, Result, string, object>> {
    // A WaitingError touches nothing and fetches the next job. What failed was emitted as an 'error' already.
    return super.handleFailed(this.#thrown.has(error) ? error : new WaitingError(), job, token, fetchNext);
  }
}

/** Whether the queue says that a job is not this worker's any more: another one has it, or it is finished, or forgotten. */
export function isLostToOthers(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && LOST.has(error.code)) || error.message.startsWith('could not renew lock');
}

const LOST = new Set<unknown>([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

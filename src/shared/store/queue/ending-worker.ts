import {
  type BackendFactory,
  ErrorCode,
  type IQueueBackend,
  type Job,
  type Processor,
  WaitingError,
  Worker,
  type WorkerOptions,
} from 'bullmq';

/**
 * BullMQ fetches as many jobs as it may have before it hands the first of them over. So it may have only this many more than it handed over:
 * else the first of a backlog waits until all are fetched.
 */
const FETCHED_AHEAD = 16;

/**
 * A BullMQ worker whose jobs fail with what their processor threw, and in no other way. BullMQ also fails a job whose
 * completion could not be written, which would put that error in the place of the result. Here such a job is left alone:
 * its lock lapses, and a worker begins it again.
 */
export class EndingWorker<Data, Result> extends Worker<Data, Result, string, IQueueBackend, object, unknown> {
  readonly #thrown = new WeakSet<object>();
  readonly #most: number;
  #handedOver = 0;

  constructor(
    name: string,
    processor: Processor<Data, Result, string, object>,
    options: WorkerOptions<unknown>,
    open: BackendFactory<IQueueBackend, unknown>,
  ) {
    super(name, processor, options, open);
    this.#most = this.concurrency;
    this.#count(0);
  }

  /** It counts before anything else happens: its caller looks right afterwards whether there is room for one more. */
  override processJob(
    ...given: Parameters<Worker<Data, Result, string, IQueueBackend, object, unknown>['processJob']>
  ) {
    this.#count(1);
    return super.processJob(...given).finally(() => this.#count(-1));
  }

  #count(change: number): void {
    this.#handedOver += change;
    this.concurrency = Math.min(this.#most, this.#handedOver + FETCHED_AHEAD);
  }

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

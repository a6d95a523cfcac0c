import {
  type BackendFactory,
  type WorkerOptions as BullWorkerOptions,
  ErrorCode,
  type IQueueBackend,
  type Job,
  type Telemetry,
  WaitingError,
  Worker,
} from 'bullmq';
import { time } from '../../ports/time.ts';
import type { QueueWorker, TakenJob, WorkerOptions } from '../queue.ts';
import { type JobCommands, type JobNews, openTakenJob, type TakenJobOptions } from '../taken-job.ts';
import { finishedJobs } from './bull-queue.ts';

/**
 * BullMQ fetches as many jobs as it may have before it hands the first of them over: with more, the first of a backlog waits for the others. With one,
 * a job that ends leaves room for nothing, since the next fetch is under way, so BullMQ does not ask for another job in its place.
 */
const FETCHED_AHEAD = 1;
/** A job is taken over when its lock is missing at two checks in a row. */
const CHECKS_PER_LOCK = 5;
const RETRY_MS = 500;

type BullJob = Job<unknown, unknown, string, object>;
type BullWorker = Worker<unknown, unknown, string, IQueueBackend, object, unknown>;

export type BullWorkerParts = {
  factory: BackendFactory<IQueueBackend, unknown>;
  common: { prefix?: string; telemetry?: Telemetry };
  /** How long a worker that died keeps its jobs, about; `openWorker` may say otherwise. */
  lockMs: number;
  /** The name of the workers' connections. */
  workerName?: string;
  news(worker: Pick<BullWorker, 'toKey'>): JobNews;
};

/**
 * A worker of BullMQ, by its documented interface. The processor itself completes its job, with `moveToCompleted`: BullMQ would fail a job whose
 * completion the store refuses, which puts that error in the place of the answer. Then it throws `WaitingError`, so that BullMQ lets go of the job.
 * A worker's lock on a job lasts `lockMs` and is renewed while the worker lives. Where it is missing at two checks, any worker takes the job.
 */
export function openBullWorker(
  name: string,
  process: (job: TakenJob) => Promise<unknown>,
  parts: BullWorkerParts,
  options: WorkerOptions,
): QueueWorker {
  const { concurrency, records, onLost, onStalled, onDefect, onError = () => {} } = options;
  /** The jobs of this worker, and whether it was told that one is not its own any more. */
  const held = new Map<string, { isLost: boolean }>();
  let open = 0;
  let closing = false;

  const worker: BullWorker = new Worker(name, handle, optionsOf(parts, options), parts.factory);
  const news = parts.news(worker);
  worker.on('error', (error) => {
    if (!isLost(error)) onError(error);
  });
  worker.on('stalled', (stalled) => onStalled?.(stalled));
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) {
      const hold = held.get(id);
      if (hold) hold.isLost = true;
    }
    onLost?.(ids);
  });

  /** BullMQ looks right after this call whether there is room for one more. */
  function count(change: number): void {
    open += change;
    worker.concurrency = Math.min(concurrency, open + FETCHED_AHEAD);
  }

  async function handle(job: BullJob, token = ''): Promise<never> {
    count(1);
    const hold = { isLost: false };
    const { id = '' } = job;
    held.set(id, hold);
    const isOver = () => hold.isLost || closing;
    const taken = takenJob(job, token, { records, news, isLost, onError, isOver });
    try {
      await process(taken).catch((error) => {
        onDefect?.(id, error);
        return taken.finish(null);
      });
    } finally {
      count(-1);
      if (held.get(id) === hold) held.delete(id);
    }
    throw new WaitingError();
  }

  return {
    run(): void {
      // A paused worker may have ended its loop or not, and one that is paused does nothing when it is run.
      if (worker.isPaused()) void worker.resume();
      else worker.run().catch(onError);
    },
    pause: () => worker.pause(true),
    close(): Promise<void> {
      closing = true;
      return worker.close();
    },
  };
}

function optionsOf(
  { common, lockMs, workerName }: BullWorkerParts,
  options: WorkerOptions,
): BullWorkerOptions<unknown> {
  const { id, concurrency, lockMs: lockDuration = lockMs } = options;
  return {
    ...common,
    ...finishedJobs,
    ...(workerName !== undefined && { name: id === undefined ? workerName : `${workerName}.${id}` }),
    connection: {}, // required by the type; the factory brings its own
    concurrency: Math.min(concurrency, FETCHED_AHEAD),
    lockDuration,
    stalledInterval: lockDuration / CHECKS_PER_LOCK,
    autorun: false,
    // Being resumed is normal here, however often: deadlines end an execution, not a count.
    maxStalledCount: 1_000_000,
    runRetryDelay: RETRY_MS,
  };
}

function takenJob(job: BullJob, token: string, options: TakenJobOptions): TakenJob {
  const { id = '', data, timestamp: addedAt, attemptsStarted, progress } = job;
  const own = { id, data, addedAt, progress, isFirstDelivery: attemptsStarted <= 1 };
  const commands: JobCommands = {
    async complete(value) {
      await job.moveToCompleted(value, token, false);
      return job.finishedOn ?? time.now();
    },
    giveBack: () => job.moveToWait(token),
    snooze: (ms) => job.moveToDelayed(time.now() + ms, token),
    setProgress: (reached) => job.updateProgress(reached),
    replaceData: (changed) => job.updateData(changed),
  };
  return openTakenJob(own, commands, options);
}

/** Whether the queue says that a job is not this worker's any more: another one has it, or it is finished, or forgotten. */
function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && LOST.has(error.code)) || error.message.startsWith('could not renew lock');
}

const LOST = new Set<unknown>([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

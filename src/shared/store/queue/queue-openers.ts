import {
  type BackendFactory,
  type IQueueBackend,
  type Processor,
  Queue,
  QueueEvents,
  QueueEventsProducer,
  type Telemetry,
} from 'bullmq';
import { EndingWorker } from './ending-worker.ts';
import type { EventsProducer, JobEvents, JobQueue, JobWorker, WorkerOptions } from './queue-backend.ts';

/** Finished jobs stay this long, so that the re-check of a waiting API always finds them: longer than the longest call. */
export const KEEP_FINISHED_SECONDS = 180;
const CLEANED_AT_ONCE = 1000;

type Parts = {
  quick: BackendFactory<IQueueBackend, unknown>;
  blocking: BackendFactory<IQueueBackend, unknown>;
  common: { prefix?: string; telemetry?: Telemetry };
  maxEvents: number;
  eventsBlockMs: number;
  /** How long a worker that died keeps its jobs, about; `openWorker` may say otherwise. */
  lockMs: number;
  /** The name of the workers' connections. */
  workerName?: string;
};

/**
 * Opens the parts of a queue in one queue store. `quick` connections fail fast, `blocking` ones wait. A worker's lock on a job lasts 5 s on Redis,
 * 10 s in the embedded store, 2.5 s for batches, and is renewed while the worker lives. Where it is missing at two checks, any worker takes
 * the job and goes on from its claim (`worker/execution/begin.ts`). The embedded store gives its jobs back at once when it starts.
 */
export function openersOf(parts: Parts) {
  return { ...queueOpeners(parts), openWorker: workerOpener(parts) };
}

const connection = undefined; // each factory brings its own
const finished = { removeOnComplete: { age: KEEP_FINISHED_SECONDS }, removeOnFail: { age: KEEP_FINISHED_SECONDS } };

function queueOpeners({ quick, blocking, common, maxEvents, eventsBlockMs }: Parts) {
  return {
    maxEvents,
    openQueue: <Data, Result>(name: string): JobQueue<Data, Result> =>
      new Queue(
        name,
        { ...common, connection, defaultJobOptions: finished, streams: { events: { maxLen: maxEvents } } },
        quick,
      ),
    openEvents: (name: string, { fromStart = false } = {}): JobEvents =>
      new QueueEvents(
        name,
        { ...common, connection, blockingTimeout: eventsBlockMs, ...(fromStart && { lastEventId: '0' }) },
        blocking,
      ),
    openEventsProducer: (name: string): EventsProducer =>
      new QueueEventsProducer(name, { ...common, connection }, quick),
  };
}

/** A job is taken over when its lock is missing at two checks in a row. */
const CHECKS_PER_LOCK = 5;

function workerOpener({ blocking, common, lockMs, workerName }: Parts) {
  return <Data, Result>(
    name: string,
    processor: Processor<Data, Result, string, object>,
    concurrency: number,
    { id, lockMs: lockDuration = lockMs }: WorkerOptions = {},
  ): JobWorker<Data, Result> =>
    new EndingWorker(
      name,
      processor,
      {
        ...common,
        lockDuration,
        stalledInterval: lockDuration / CHECKS_PER_LOCK,
        ...finished,
        ...(workerName !== undefined && { name: id === undefined ? workerName : `${workerName}.${id}` }),
        connection: {}, // required by the type; the factory brings its own
        concurrency,
        autorun: false,
        // Being resumed is normal here, however often: deadlines end an execution, not a count.
        maxStalledCount: 1_000_000,
        runRetryDelay: 500,
      },
      blocking,
    );
}

/** Removes what finished longer than `olderThanMs` ago from a queue. */
export async function removeFinished(queue: Pick<Queue, 'clean'>, olderThanMs: number): Promise<void> {
  for (const state of ['completed', 'failed'] as const) await queue.clean(olderThanMs, CLEANED_AT_ONCE, state);
}

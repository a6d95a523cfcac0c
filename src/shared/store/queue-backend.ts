import {
  type BackendFactory,
  createPostgresBackend,
  createRedisBackend,
  type IQueueBackend,
  type Processor,
  Queue,
  QueueEvents,
  QueueEventsProducer,
  type Telemetry,
  type Worker,
} from 'bullmq';
import { Redis } from 'ioredis';
import type { JobData, JobResult } from '../contract/job.ts';
import type { BatchLimits, BatchStore } from './batch-store.ts';
import { EndingWorker } from './ending-worker.ts';
import type { History, HistoryLimits } from './history.ts';
import { embeddedShortJobs, type ReadShortJobs, redisShortJobs } from './job-heads.ts';
import { createMemoryStore, createRedisStore, type Store, storedKey } from './key-value-store.ts';
import { createMemoryBatches } from './memory-batches.ts';
import { createMemoryHistory } from './memory-history.ts';
import { createMemoryNotes } from './memory-notes.ts';
import type { Notes } from './notes.ts';
import { createRedisBatches } from './redis-batches.ts';
import { createRedisHistory } from './redis-history.ts';
import { createRedisNotes } from './redis-notes.ts';
import { redisScript } from './redis-script.ts';
import { replyWithin } from './reply-within.ts';
import { createSplitHistory } from './split-history.ts';

/**
 * Queue names. `queries` answers quick questions about clients and rules; `control` carries messages to every worker and
 * no jobs, so that workers need not read all results.
 */
export const queueNames = {
  executions: 'executions',
  queries: 'queries',
  control: 'control',
  batches: 'batches',
} as const;

/** Finished jobs stay this long, so that the re-check of a waiting API always finds them: longer than the longest call. */
export const KEEP_FINISHED_SECONDS = 180;
const CLEANED_AT_ONCE = 1000;

export type JobQueue<Data, Result> = Queue<Data, Result, string, Data, Result, string, IQueueBackend, unknown>;
export type JobWorker<Data, Result> = Worker<Data, Result, string, IQueueBackend, object, unknown>;
export type JobEvents = QueueEvents<unknown, IQueueBackend, unknown>;
export type EventsProducer = QueueEventsProducer<IQueueBackend, unknown>;
type Cleaned = Pick<Queue, 'clean' | 'toKey'>;
export type ExecutionQueue = JobQueue<JobData, JobResult>;

/** The queue store, and everything that depends on which one it is: no other file asks. */
export type QueueBackend = {
  /** Which queue store it is and where, without credentials. */
  where: string;
  /** Rejects when a reply takes so long that the queue store must be called away: who asked gets 503 within a second. */
  inTime<T>(reply: Promise<T>): Promise<T>;
  /** Resolves once the queue store was reached for the first time. */
  connected: Promise<void>;
  store: Store;
  /** Notes of calls under an Idempotency-Key, with at most `maxBytes` in all. */
  openNotes(maxBytes: number): Notes;
  /** Settled executions. */
  openHistory(limits: HistoryLimits): History;
  /** Batches and their items. */
  openBatches(limits: BatchLimits): BatchStore;
  /** How many entries the event stream keeps; at 1,000 calls/s the Redis one bridges 4 s without a re-check. */
  maxEvents: number;
  openQueue<Data, Result>(name: string): JobQueue<Data, Result>;
  /** Reads jobs without their inputs. */
  readShortJobs: ReadShortJobs;
  /** Takes an execution off the queue that no worker has begun; false when one has, or when it is not there. */
  removeWaiting(queue: ExecutionQueue, id: string): Promise<boolean>;
  /** Calls `listener` each time the connection of `queue` is lost; one in this process never is. */
  onDisconnect(queue: ExecutionQueue, listener: () => void): void;
  /** Whether the queue store can tell which workers are connected. */
  seesWorkers: boolean;
  /** Removes what finished longer than `olderThanMs` ago from a queue and its events, also when nothing happens any more. */
  removeOld(queue: Cleaned, olderThanMs: number): Promise<void>;
  /** Worker processes connected to the queue. A frozen one still counts. */
  countWorkers(queue: ExecutionQueue): Promise<number>;
  /** Events from now on, or with `fromStart` also those that are still there. */
  openEvents(name: string, options?: { fromStart?: boolean }): JobEvents;
  openEventsProducer(name: string): EventsProducer;
  /** A worker that does not take jobs yet: call `run()`. */
  openWorker<Data, Result>(
    name: string,
    processor: Processor<Data, Result, string, object>,
    concurrency: number,
  ): JobWorker<Data, Result>;
  close(): Promise<void>;
};

const MAX_EVENTS = 20_000;
const BATCH_HISTORY = '{rule-server}:history-of-batches:';
const REPLY_MS = 700;

/** BullMQ's own removal takes any job that is not locked: also one that has run, or whose worker fell asleep. */
const removeWaiting = redisScript(`
local wait, job, events, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
if tonumber(redis.call('HGET', job, 'ats') or '0') > 0 then return 0 end
if redis.call('LREM', wait, 1, id) == 0 then return 0 end
redis.call('DEL', job)
redis.call('XADD', events, 'MAXLEN', '~', ARGV[2], '*', 'event', 'removed', 'jobId', id, 'prev', 'wait')
return 1
`);

/** Opens the queue store behind a redis:// URL, or the embedded one when there is none. `telemetry` carries traces. */
export async function openQueueBackend(url: string | undefined, telemetry?: Telemetry): Promise<QueueBackend> {
  return url === undefined ? openEmbedded(telemetry) : openRedis(url, telemetry);
}

function openRedis(url: string, telemetry: Telemetry | undefined): QueueBackend {
  const retryStrategy = (attempt: number) => Math.min(100 * attempt, 500);
  // A command of these connections fails fast, and none may be part of opening one: it would stay broken for good.
  const fast = {
    url,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 3000,
    skipVersionCheck: true,
    retryStrategy,
  };
  // A command that blocks by design must neither time out nor give up.
  const patient = { url, maxRetriesPerRequest: null, retryStrategy };
  // One hash tag keeps all keys in one slot of a Redis Cluster.
  const prefix = '{rule-server}';
  const factory =
    (connection: typeof fast | typeof patient): BackendFactory<IQueueBackend, unknown> =>
    (name, options, more) => {
      const backend = createRedisBackend(name, { ...options, connection }, more);
      // Once BullMQ closes it, it listens no more; the connection would print its errors until the process ends.
      for (const client of [backend.client, backend.blockingClient]) {
        client?.then(
          (opened) => opened.on('error', () => {}),
          () => {},
        );
      }
      return backend;
    };
  const results = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 5000,
    retryStrategy,
  });
  results.on('error', () => {}); // the queue's own connection reports the same fault
  const connected = new Promise<void>((resolve) => void results.once('ready', () => resolve()));

  return {
    where: `redis, ${withoutCredentials(url)}`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected,
    store: createRedisStore(results),
    openNotes: (maxBytes) => createRedisNotes(results, storedKey, maxBytes),
    openHistory: (limits) =>
      createSplitHistory(
        (own, part) => createRedisHistory(results, storedKey, own, part === 'batches' ? BATCH_HISTORY : undefined),
        limits,
      ),
    openBatches: (limits) => createRedisBatches(results, limits),
    ...openers({
      quick: factory(fast),
      blocking: factory(patient),
      common: { prefix, ...traced(telemetry) },
      maxEvents: MAX_EVENTS,
      eventsBlockMs: 10_000,
      // A dead worker's executions are taken over within lock + two checks: 5 to 7 s.
      locks: { lockDuration: 5000, stalledInterval: 1000 },
    }),
    readShortJobs: redisShortJobs(results),
    async removeWaiting(queue, id) {
      const keys = [queue.toKey('wait'), queue.toKey(id), queue.toKey('events')];
      return (await removeWaiting(results, keys, [id, MAX_EVENTS])) === 1;
    },
    async removeOld(queue, olderThanMs) {
      await removeFinished(queue, olderThanMs);
      await results.xtrim(queue.toKey('events'), 'MINID', Date.now() - olderThanMs);
    },
    onDisconnect: (queue, listener) => void queue.on('ioredis:close', listener),
    seesWorkers: true,
    // Redis lists the connections of all its databases; a deployment in another one has the same names.
    countWorkers: async (queue) =>
      (await queue.getWorkers()).filter(({ db }) => db === undefined || Number(db) === (results.options.db ?? 0))
        .length,
    close: async () => results.disconnect(),
  };
}

async function openEmbedded(telemetry: Telemetry | undefined): Promise<QueueBackend> {
  const store = createMemoryStore();
  let notes: Notes | undefined;
  let batches: BatchStore | undefined;
  let history: History | undefined; // one for the API and the worker of this process
  // Only who uses it pays for loading a database.
  const { startEmbeddedPostgres } = await import('./embedded-postgres.ts');
  const pool = await startEmbeddedPostgres();
  const factory: BackendFactory<IQueueBackend, unknown> = (name, options, more) =>
    createPostgresBackend(name, { ...options, connection: pool }, more);

  return {
    where: 'embedded, in this process',
    inTime: (reply) => reply, // slow at the worst: it is away only when the whole process is
    connected: Promise.resolve(),
    store,
    openNotes: (maxBytes) => (notes ??= createMemoryNotes(maxBytes)),
    openHistory: (limits) => (history ??= openMemoryHistory(store, limits)),
    openBatches: (limits) => (batches ??= createMemoryBatches(limits)),
    ...openers({
      quick: factory,
      blocking: factory,
      common: traced(telemetry),
      maxEvents: 2000,
      // A notification may go unnoticed; the short block makes up for it.
      eventsBlockMs: 1000,
      locks: { lockDuration: 10_000, stalledInterval: 5000 },
    }),
    readShortJobs: embeddedShortJobs(pool),
    async removeWaiting(queue, id) {
      const job = await queue.getJob(id);
      // A job that is taken after this look is locked, and a locked one is not removed.
      return job?.attemptsStarted === 0 && (await queue.remove(id, { removeChildren: false })) === 1;
    },
    removeOld: removeFinished,
    onDisconnect: () => {},
    seesWorkers: false,
    countWorkers: async () => 1, // this process
    close: () => pool.shutDown(),
  };
}

async function removeFinished(queue: Cleaned, olderThanMs: number): Promise<void> {
  for (const state of ['completed', 'failed'] as const) await queue.clean(olderThanMs, CLEANED_AT_ONCE, state);
}

/** The history of one process. */
export function openMemoryHistory(store: Store, limits: HistoryLimits): History {
  return createSplitHistory((own) => createMemoryHistory(store, own), limits);
}

type Parts = {
  quick: BackendFactory<IQueueBackend, unknown>;
  blocking: BackendFactory<IQueueBackend, unknown>;
  common: { prefix?: string; telemetry?: Telemetry };
  maxEvents: number;
  eventsBlockMs: number;
  locks: { lockDuration: number; stalledInterval: number };
};

function openers({ quick, blocking, common, maxEvents, eventsBlockMs, locks }: Parts) {
  const connection = undefined; // each factory brings its own
  const finished = { removeOnComplete: { age: KEEP_FINISHED_SECONDS }, removeOnFail: { age: KEEP_FINISHED_SECONDS } };
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
    openWorker: <Data, Result>(
      name: string,
      processor: Processor<Data, Result, string, object>,
      concurrency: number,
    ): JobWorker<Data, Result> =>
      new EndingWorker(
        name,
        processor,
        {
          ...common,
          ...locks,
          ...finished,
          connection: {}, // required by the type; the factory brings its own
          concurrency,
          autorun: false,
          // Being resumed is normal here, however often: deadlines end an execution, not a count.
          maxStalledCount: 1_000_000,
          runRetryDelay: 500,
        },
        blocking,
      ),
  };
}

const traced = (telemetry: Telemetry | undefined) => (telemetry ? { telemetry } : {});

function withoutCredentials(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

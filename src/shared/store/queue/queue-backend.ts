import type { IQueueBackend, Processor, Queue, QueueEvents, QueueEventsProducer, Worker } from 'bullmq';
import type { Ending } from '../../contract/endings/ending.ts';
import type { JobData } from '../../contract/job.ts';
import type { BatchLimits, BatchStore } from '../batches/batch-store.ts';
import type { History, HistoryLimits } from '../history/history.ts';
import type { HistoryOptions } from '../history/open-history.ts';
import type { Trees } from '../history/trees.ts';
import type { Store } from '../key-value-store.ts';
import type { Notes } from '../notes/notes.ts';
import type { RegisteredDirectory } from '../registered-directory.ts';
import type { Replies, ReplyListener } from '../replies/replies.ts';
import type { TellArrivals } from './arrivals.ts';
import type { Takers } from './takers.ts';

/** A job as lists and followers read it: without the data that its worker reads. */
export type ShortJob = {
  /** The head that its API wrote beside its data; null if there is none. */
  head: unknown;
  timestamp: number;
  /** Whether a worker has begun it, as far as the queue store remembers. */
  begun: boolean;
  progress: unknown;
  finishedOn: number | null;
  returnvalue: unknown;
};

/** Reads jobs in the order of their ids; null for one that is not there. */
export type ReadShortJobs = (queue: ExecutionQueue, ids: readonly string[]) => Promise<(ShortJob | null)[]>;

/** Removes the job of an execution that has ended, and the events that tell of it: they carry its answer. */
export type EraseJob = (queue: ExecutionQueue, mockId: string) => Promise<void>;

export type JobQueue<Data, Result> = Queue<Data, Result, string, Data, Result, string, IQueueBackend, unknown>;
export type JobWorker<Data, Result> = Worker<Data, Result, string, IQueueBackend, object, unknown>;
export type JobEvents = QueueEvents<unknown, IQueueBackend, unknown>;
export type EventsProducer = QueueEventsProducer<IQueueBackend, unknown>;
/** `id`: the connection of the worker carries it. `lockMs`: how long its jobs stay its own after it died, if not as long as usual. */
export type WorkerOptions = { id?: string; lockMs?: number };
type Cleaned = Pick<Queue, 'clean' | 'toKey'>;
export type ExecutionQueue = JobQueue<JobData, Ending>;

/**
 * An id of the queue store's present run: another one after each restart and each fail-over, when it may have forgotten what was
 * written last. `last`: as of when the present connection was made, undefined without one. `ask`: as of now.
 */
export type StoreRun = { last(): string | undefined; ask(): Promise<string | undefined> };

/** The queue store, and everything that depends on which one it is: no other file asks. */
export type QueueBackend = {
  /** The kind and the address of the queue store, without credentials. */
  where: string;
  /** Rejects when a reply takes too long: for a last look, when a deadline is over already. */
  inTime<T>(reply: Promise<T>): Promise<T>;
  /** Resolves once the queue store was reached for the first time. */
  connected: Promise<void>;
  /** Resolves, once the queue store was reached for the first time, to why it can never serve; to undefined if it can. */
  examined: Promise<string | undefined>;
  /** Rejects unless the queue store answers and takes writes. */
  probe(): Promise<void>;
  /** Why the queue store has no room for more, and what to do; null when it has. Quick enough to be asked at each call. */
  full(): string | null;
  /** A number that changes whenever anything comes from the queue store, on any connection. */
  heard(): number;
  run: StoreRun;
  takers: Takers;
  tellArrivals: TellArrivals;
  store: Store;
  directory: RegisteredDirectory;
  /** The trees of rules that ran, in at most `maxBytes`. */
  openTrees(maxBytes: number): Trees;
  /** Notes of calls under an Idempotency-Key, with at most `maxBytes` in all. */
  openNotes(maxBytes: number): Notes;
  /** Settled executions. */
  openHistory(limits: HistoryLimits, options?: HistoryOptions): History;
  /** From now on an execution is in this history in the same step in which its job ends, where the queue store can do that. */
  keepEndings(history: History): void;
  /** Looks for executions that ended lately and are in no history: their ids. */
  openMissingRecords(queue: ExecutionQueue, limits: HistoryLimits): () => Promise<string[]>;
  /** Batches and their items. */
  openBatches(limits: BatchLimits): BatchStore;
  /** How many entries the event stream keeps. */
  maxEvents: number;
  openQueue<Data, Result>(name: string): JobQueue<Data, Result>;
  /** Reads jobs without their inputs. */
  readShortJobs: ReadShortJobs;
  eraseJob: EraseJob;
  /** Takes an execution off the queue that no worker has begun; false when one has, or when it is not there. */
  removeWaiting(queue: ExecutionQueue, id: string): Promise<boolean>;
  /** Calls `listener` each time the connection of `queue` is lost; one in this process never is. */
  onDisconnect(queue: ExecutionQueue, listener: () => void): void;
  /** Whether the queue store can tell which workers are connected. */
  seesWorkers: boolean;
  /** Removes what finished longer than `olderThanMs` ago from a queue and its events, also when nothing happens any more. */
  removeOld(queue: Cleaned, olderThanMs: number): Promise<void>;
  /**
   * Worker processes that are connected to the queue and take jobs, without `except`.
   */
  findWorkers(queue: Pick<Queue, 'getWorkers'>, except?: string): Promise<number>;
  /** Hears how jobs of a queue ended whose data names the address. */
  openReplies(queue: Pick<Queue, 'name' | 'toKey'>, listener: ReplyListener): Replies;
  /** Tells the API that asked for a job, and those that follow it, that something happened to it without a worker. */
  tellChange(queue: Pick<Queue, 'name' | 'toKey'>, id: string, replyTo: string | undefined): Promise<void>;
  /** Events from now on, or with `fromStart` also those that are still there. */
  openEvents(name: string, options?: { fromStart?: boolean }): JobEvents;
  openEventsProducer(name: string): EventsProducer;
  /** A worker that does not take jobs yet: call `run()`. */
  openWorker<Data, Result>(
    name: string,
    processor: Processor<Data, Result, string, object>,
    concurrency: number,
    options?: WorkerOptions,
  ): JobWorker<Data, Result>;
  close(): Promise<void>;
};

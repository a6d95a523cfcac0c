import type { EndedJob, Settled } from '../contract/execution-record.ts';
import type { JobData } from '../contract/job.ts';
import type { HistoryLimits, Publication } from '../store/history/history.ts';

/** Ended jobs stay this long, so that the re-check of a waiting API always finds them: longer than the longest call. */
export const KEEP_ENDED_MS = 180_000;

/**
 * The port to a queue of jobs: all that API and worker ask of the store that carries them. `redis/` implements it on BullMQ, `sqlite/` in this
 * process, and the simulator in simulated time; one conformance suite runs on each of them.
 *
 * A job is waiting, taken by one worker, snoozed, or ended with a value. Its id is chosen by whoever adds it. A taken job is locked to its worker;
 * the lock is renewed while the worker lives, and once it lapsed any worker takes the job again. So a job is delivered at least once, and it ends
 * once: the first ending counts.
 *
 * What a failure means. An operation that only reads changed nothing. One that changes something rejects with an error of which `wasNotSent`
 * (`store/store-error.ts`) is true if it did not happen and never will; with any other error it may have happened, or may happen yet.
 * Deadlines. On Redis an operation rejects at once while there is no connection, and within 15 s on a connection that died in silence; those of
 * a worker wait for the connection. In one process each ends with its transaction.
 */
export type Queue<Data = unknown> = {
  readonly name: string;
  /**
   * Puts a job on the queue. Idempotent by its id: while a job of this id is there, also an ended one, nothing changes. `head`: what `readShort`
   * shows of the job.
   */
  add(id: string, data: Data, options?: { head?: string }): Promise<void>;

  /** How a job ended. The cheapest question: processes that wait ask it for each of their jobs again and again. */
  lookUp(id: string): Promise<Found>;
  /** A whole job; null when there is none of this id. */
  read(id: string): Promise<WholeJob | null>;
  /** Jobs without their data, in the order of the ids; null for one that is not there. */
  readShort(ids: readonly string[]): Promise<(ShortJob | null)[]>;
  /** The ids of jobs that have not ended: all, or of each state at most the newest `count`. One that ends meanwhile may be among them. */
  listOpen(count?: number): Promise<string[]>;
  count(): Promise<Counts>;

  /** Removes a job that no worker has ever taken: after `true` none begins it. False: one has taken it, or it is not there. */
  removeWaiting(id: string): Promise<boolean>;
  /** Removes a job that no worker has at the moment, with everything that its queue keeps of it. Idempotent. */
  erase(id: string): Promise<void>;
  /** Removes jobs that ended longer ago. Those leave when others end, too; this is for the time when nothing ends. */
  removeOld(olderThanMs: number): Promise<void>;
  /**
   * The ids of executions that ended lately and are in no history of these limits: their worker died between the two. Of several processes
   * that ask at the same time, one is answered. Empty where ending and record are one step.
   */
  missingRecords(limits: HistoryLimits): Promise<string[]>;

  /** Hears of jobs whose data has `replyTo: replies.address`, and of those that are followed. Each message is a hint: it may be lost. */
  openReplies(listener: ReplyListener): Replies;
  /** Tells whoever asked for a job, and those that follow it, that it changed without a worker. A hint; never rejects. */
  tellChange(id: string, replyTo: string | undefined): Promise<void>;
  close(): Promise<void>;
};

export type ExecutionQueue = Queue<JobData>;

/** Puts an execution on the queue. Lists show its data without the input. */
export function addExecution(queue: Pick<ExecutionQueue, 'add'>, mockId: string, data: JobData): Promise<void> {
  const { input: _, ...head } = data;
  return queue.add(mockId, data, { head: JSON.stringify(head) });
}

/**
 * `ended`: its value is null if a defect of ours ended it. `missing`: there is no job of this id. It was never added, or was removed, or the store
 * lost it.
 */
export type Found = { kind: 'ended'; value: unknown } | { kind: 'open' } | { kind: 'missing' };

/** Times are epoch ms. `endedAt` is null while it is open. */
type Job = {
  addedAt: number;
  /** Whether a worker has ever taken it, as far as the store remembers. */
  begun: boolean;
  /** What its worker reported last. */
  progress: unknown;
  endedAt: number | null;
  value: unknown;
};
export type WholeJob = Job & { data: unknown };
/** `head`: as it was given when the job was added, read as JSON; null if none was. */
export type ShortJob = Job & { head: unknown };

/** `waiting` for a worker; `snoozed`: not to be taken for a moment; `taken` by a worker that has not ended it. */
export type Counts = { waiting: number; snoozed: number; taken: number };

/** A message about a job: how it ended, as the job itself holds it, or that it changed and should be looked up. */
export type Reply = { kind: 'ended'; id: string; value: unknown } | { kind: 'changed'; id: string };

/** `onBack`: replies may have been lost until now, and arrive again. */
export type ReplyListener = { onReply(reply: Reply): void; onBack(): void };

/** Tells one process about the jobs it asked for. */
export type Replies = {
  /** The `replyTo` in a job's data that leads replies here. */
  address: string;
  /** Resolves once replies arrive. */
  ready: Promise<void>;
  /** Calls `listener` when something happens to one job, whoever asked for it. The returned function ends that. */
  follow(id: string, listener: () => void): () => void;
  close(): Promise<void>;
};

/** A job that this worker has. What the store refuses is repeated until it is done or the job is not this worker's any more. */
export type TakenJob = {
  id: string;
  data: unknown;
  addedAt: number;
  /** False where a worker took it before, as far as the store remembers. */
  isFirstDelivery: boolean;
  /** What an earlier worker reported last. */
  progress: unknown;
  /** Ends the job with a value of JSON, tells the process that asked, and adds the record where the worker has `records`. Never rejects. */
  finish(value: unknown): Promise<Finished>;
  /** The job waits again, before the others; another worker may take it, or this one. Never rejects. */
  giveBack(): Promise<void>;
  /** The job waits again after so many ms. Never rejects. */
  snooze(ms: number): Promise<void>;
  /** Keeps how far it is, and tells those that follow the job. Tried once. */
  report(progress: object): Promise<void>;
  /** Replaces the data of the job, also after it has ended. Tried once. */
  replaceData(data: object): Promise<void>;
};

/**
 * `finished`: the job ended with this value. `isRecorded`: its record was added too.
 * `lost`: another worker has it, it is gone, or this worker stopped before the store took the ending: somebody else ends it. If a reply was
 * lost, it may also have ended with this value; then the record is among the missing ones.
 */
export type Finished = { kind: 'finished'; settled: Settled | undefined; isRecorded: boolean } | { kind: 'lost' };

/** The record of each ending is added in the step that ends the job, or right after it and together with its reply, the `publication`. */
export type Records = {
  settledOf(ended: EndedJob): Settled | undefined;
  add(settled: Settled, publication?: Publication): Promise<void>;
};

export type WorkerOptions = {
  /** Jobs that it has at the same time. */
  concurrency: number;
  /** For so long its jobs stay its own after it died. */
  lockMs?: number;
  records?: Records;
  /** The locks of these jobs lapsed: others may have taken them. */
  onLost?: (ids: readonly string[]) => void;
  /** A worker died or stood still with this job; it waits again. */
  onStalled?: (id: string) => void;
  /** `process` rejected, which is a defect of ours. */
  onDefect?: (id: string, error: unknown) => void;
  /** The store refused or could not be reached. The worker goes on by itself. */
  onError?: (error: unknown) => void;
};

/**
 * A worker, which takes jobs once `run` is called. `process` ends each with one of `finish`, `giveBack` and `snooze`; a job
 * of which it rejects ends with null.
 */
export type OpenWorker = (
  name: string,
  process: (job: TakenJob) => Promise<unknown>,
  options: WorkerOptions,
) => QueueWorker;

export type QueueWorker = {
  /** Takes jobs from now on, also after a pause. */
  run(): void;
  /** Takes no more; those it has go on. One that was under way may still come. */
  pause(): Promise<void>;
  /** Takes no more, waits until `process` is done with those it has, and lets go of everything. */
  close(): Promise<void>;
};

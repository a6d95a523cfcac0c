import { AsyncResource } from 'node:async_hooks';
import {
  type BackendFactory,
  type WorkerOptions as BullWorkerOptions,
  ErrorCode,
  type IQueueBackend,
  Job,
  SpanKind,
  type Telemetry,
  Worker,
} from 'bullmq';
import { time } from '../../ports/time.ts';
import { AWAY_MS } from '../../runtime/async.ts';
import { every } from '../../runtime/upkeep.ts';
import type { QueueWorker, TakenJob, WorkerOptions } from '../queue.ts';
import { type JobCommands, type JobNews, openTakenJob } from '../taken-job.ts';
import { finishedJobs } from './bull-queue.ts';

/** A job is taken over when its lock is missing at two checks in a row. */
const CHECKS_PER_LOCK = 5;
const RENEWALS_PER_LOCK = 4;

type BullJob = Job<unknown, unknown, string>;
type BullWorker = Worker<unknown, unknown, string, IQueueBackend, object, unknown>;

export type BullWorkerParts = {
  factory: BackendFactory<IQueueBackend, unknown>;
  common: { prefix?: string; telemetry?: Telemetry };
  /** How long a worker that died keeps its jobs, about; `openWorker` may say otherwise. */
  lockMs: number;
  news(worker: Pick<BullWorker, 'toKey'>): JobNews;
};

type Begin = (job: BullJob, token: string) => void;

/**
 * A worker of BullMQ that fetches its jobs itself (https://docs.bullmq.io/patterns/manually-fetching-jobs): the completion of one brings the
 * next in the same script, and a completion that the store refuses is repeated, where BullMQ's own loop would fail the job and put that error
 * in the place of the answer. A worker's lock on a job lasts `lockMs` and is renewed while the worker lives. Where it is missing at two checks,
 * any worker takes the job.
 */
export function openBullWorker(
  name: string,
  process: (job: TakenJob) => Promise<unknown>,
  parts: BullWorkerParts,
  options: WorkerOptions,
): QueueWorker {
  const { concurrency, lockMs = parts.lockMs, onStalled, onDefect, onError = () => {} } = options;
  let store: IQueueBackend | undefined;
  const factory: typeof parts.factory = (...given) => {
    store = parts.factory(...given);
    return store;
  };
  const worker: BullWorker = new Worker(name, null, optionsOf(parts, lockMs), factory);
  worker.on('error', onError);
  worker.on('stalled', (stalled) => onStalled?.(stalled));
  const news = parts.news(worker);
  const locks = createLocks(worker, { ...options, lockMs, onError });
  /** What is done for jobs, to the end: also after a job has ended. */
  const processing = new Set<Promise<void>>();
  let isClosing = false;
  const fetching = createFetching(worker, { begin, hasRoom: () => locks.count() < concurrency, onError });
  const shared: Shared = {
    ...{ worker, news, letGo, options },
    begin: AsyncResource.bind(begin), // what comes after a job is no part of its trace
    mayReplace: () => fetching.isOn() && locks.count() <= concurrency,
    isClosing: () => isClosing,
  };

  function begin(job: BullJob, token: string): void {
    const held = locks.hold(job.id ?? '', token);
    const taken = takenJob(job, held, shared);
    const { metadata } = job.opts.telemetry ?? {};
    const done = Promise.resolve(worker.trace(SpanKind.CONSUMER, 'process', name, () => process(taken), metadata))
      .catch((error) => {
        onDefect?.(held.id, error);
        return taken.finish(null);
      })
      .then(() => {
        letGo(held);
        processing.delete(done);
      });
    processing.add(done);
  }

  function letGo(held: Held): void {
    locks.letGo(held);
    fetching.look();
  }

  return {
    run: () => fetching.on(),
    pause: async () => fetching.off(),
    async close() {
      isClosing = true;
      fetching.off();
      await store?.disconnectBlocking(true).catch(onError); // ends the wait for a job
      await fetching.over();
      await Promise.all(processing);
      await locks.stop();
      await worker.close();
    },
  };
}

type FetchingParts = { begin: Begin; hasRoom: () => boolean; onError: (error: unknown) => void };

/** Fetches one job after the other while it is on and there is room. */
function createFetching(worker: BullWorker, { begin, hasRoom, onError }: FetchingParts) {
  let isOn = false;
  let running: Promise<void> | undefined;
  let count = 0;
  let look = () => {};

  async function fetchAll(): Promise<void> {
    await worker.startStalledCheckTimer();
    while (isOn)
      if (hasRoom()) await fetchOne().catch(pauseAfter);
      else
        await new Promise<void>((resolve) => {
          look = resolve;
        });
  }

  async function fetchOne(): Promise<void> {
    const token = `${worker.id}:${count++}`;
    const job = await worker.getNextJob(token);
    if (job) begin(job, token);
  }

  async function pauseAfter(error: unknown): Promise<void> {
    onError(error);
    await time.pause(AWAY_MS);
  }

  function on(): void {
    isOn = true;
    running ??= fetchAll()
      .catch(onError)
      .finally(() => {
        running = undefined;
        if (isOn) on();
      });
  }

  return {
    on,
    off(): void {
      isOn = false;
      look();
    },
    isOn: () => isOn,
    /** To be called when there may be room again. */
    look: () => look(),
    over: async () => running,
  };
}

/** A job that this worker has. */
type Held = { id: string; token: string; renewedAt: number; isLost: boolean };
type LocksOptions = Pick<WorkerOptions, 'onLost'> & { lockMs: number; onError: (error: unknown) => void };

/** The jobs of a worker, whose locks it renews. */
function createLocks(worker: BullWorker, { lockMs, onLost, onError }: LocksOptions) {
  const all = new Map<string, Held>();
  const renewMs = lockMs / RENEWALS_PER_LOCK;
  const renewals = every(renewMs, renew, onError);

  async function renew(): Promise<void> {
    const now = time.monotonic();
    const due = [...all.values()].filter(({ renewedAt }) => renewedAt + renewMs <= now);
    if (due.length === 0) return;
    for (const held of due) held.renewedAt = now;
    const ids = due.map(({ id }) => id);
    const tokens = due.map(({ token }) => token);
    const refused = new Set(await worker.extendJobLocks(ids, tokens, lockMs));
    const lost = due.filter((held) => refused.has(held.id) && all.get(held.id) === held); // others ended meanwhile
    for (const held of lost) held.isLost = true;
    if (lost.length > 0) onLost?.(lost.map(({ id }) => id));
  }

  return {
    hold(id: string, token: string): Held {
      const held = { id, token, renewedAt: time.monotonic(), isLost: false };
      all.set(id, held);
      return held;
    },
    letGo(held: Held): void {
      if (all.get(held.id) === held) all.delete(held.id);
    },
    count: () => all.size,
    stop: () => renewals.stop(),
  };
}

type Shared = {
  worker: BullWorker;
  news: JobNews;
  begin: Begin;
  letGo: (held: Held) => void;
  options: WorkerOptions;
  /** Whether the next job may take the place of one that ends. */
  mayReplace: () => boolean;
  isClosing: () => boolean;
};

function takenJob(job: BullJob, held: Held, { worker, news, begin, letGo, options, ...is }: Shared): TakenJob {
  const { id, token } = held;
  const { data, timestamp: addedAt, attemptsStarted, progress } = job;
  const own = { id, data, addedAt, progress, isFirstDelivery: attemptsStarted <= 1 };
  const commands: JobCommands = {
    async complete(value) {
      const [next, nextId] = (await job.moveToCompleted(value, token, is.mayReplace())) ?? [];
      letGo(held);
      if (next) begin(Job.fromJSON(worker, next, nextId), token);
      return job.finishedOn ?? time.now();
    },
    giveBack: () => job.moveToWait(token),
    snooze: (ms) => job.moveToDelayed(time.now() + ms, token),
    setProgress: (reached) => job.updateProgress(reached),
    replaceData: (changed) => job.updateData(changed),
  };
  const { records, onError = () => {} } = options;
  return openTakenJob(own, commands, { records, news, isLost, onError, isOver: () => held.isLost || is.isClosing() });
}

function optionsOf({ common }: BullWorkerParts, lockDuration: number): BullWorkerOptions<unknown> {
  return {
    ...common,
    ...finishedJobs,
    connection: {}, // required by the type; the factory brings its own
    lockDuration,
    stalledInterval: lockDuration / CHECKS_PER_LOCK,
    // Being resumed is normal here, however often: deadlines end an execution, not a count.
    maxStalledCount: 1_000_000,
  };
}

/** Whether the queue says that a job is not this worker's any more: another one has it, or it is finished, or forgotten. */
function isLost(error: unknown): boolean {
  return error instanceof Error && 'code' in error && LOST.has(error.code);
}

const LOST = new Set<unknown>([
  ErrorCode.JobNotExist,
  ErrorCode.JobLockNotExist,
  ErrorCode.JobNotInState,
  ErrorCode.JobLockMismatch,
]);

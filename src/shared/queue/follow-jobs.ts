import { type Timer, time } from '../ports/time.ts';
import { every } from '../runtime/upkeep.ts';
import type { Queue, Reply } from './queue.ts';
import type { QueueBackend } from './queue-backend.ts';

const TICK_MS = 500;
/** 20 ms of the queue store's time: so many at the most, when all are due at once. */
const RECHECKS_PER_TICK = 2000;
/** With few waiting each is looked up so often, with many each as often as 1,000 look-ups a second allow: some 7 % of a core. */
const RECHECK_AFTER_MS = 2000;
const RECHECKS_PER_SECOND = 1000;

type Options<Data, Ending> = {
  backend: Pick<QueueBackend, 'inTime'>;
  queue: Pick<Queue<Data>, 'lookUp' | 'openReplies' | 'removeWaiting'>;
  /** The ending in the value of a job. */
  read: (id: string, value: unknown) => Ending | Promise<Ending>;
  /** The ending of a job that the queue does not have, from elsewhere. */
  known?: (id: string) => Promise<Ending | null>;
  /** What the ending comes to of a job that was added again. */
  inDoubt?: (id: string, ending: Ending) => Ending;
  /** Called at each re-check of a job that has no ending yet. `recheckAt` says when to look again at the latest. */
  onUnfinished: (id: string, awaited: AwaitedJob<Data>, state: 'open' | 'missing') => Promise<void>;
};

/**
 * A job that a call waits for, since an epoch ms. `isAdded`: the queue store took it. `againAt`: when it was added again last, because the queue
 * store had lost it.
 */
export type AwaitedJob<Data> = { data: Data; since: number; recheckAt: number; isAdded?: boolean; againAt?: number };

/**
 * Lets an API and the batches of a worker wait for jobs of one queue. Workers tell the process that asked how a job ended; since that
 * may be lost, every waiting id is also looked up again each 2 s (10 s where 10,000 wait), and all of them at once when replies come back.
 */
export function followJobs<Data, Ending>(options: Options<Data, Ending>) {
  const { backend, queue, read, inDoubt = (_, ending) => ending } = options;
  const pending = createPendingCalls<Ending>();
  const { awaited, lookUp, recheckAll, ...rechecks } = createRechecks({ ...options, settle });
  const replies = queue.openReplies({ onReply, onBack: recheckAll });

  function onReply(reply: Reply): void {
    const { id } = reply;
    if (!pending.has(id)) return;
    if (reply.kind === 'ended') settle(id, read(id, reply.value));
    else void lookUp(id).catch(() => {}); // it is looked up again
  }

  function settle(id: string, ending: Ending | Promise<Ending>): boolean {
    awaited.delete(id);
    return pending.settle(id, ending);
  }

  return {
    /** In a job's data it leads its ending here. */
    replyTo: replies.address,
    /** Resolves once the subscription is confirmed, so that replies arrive. */
    ready: replies.ready,

    /** Waits for the end of one job, at most `timeoutMs`; then it ends as `onTimeout` says. Call it before the job is added. */
    async wait(id: string, data: Data, timeoutMs: number, onTimeout: () => Ending | Promise<Ending>): Promise<Ending> {
      const since = time.now();
      const job: AwaitedJob<Data> = { data, since, recheckAt: since + RECHECK_AFTER_MS };
      awaited.set(id, job);
      const ending = await pending.enter(id, timeoutMs, async () => {
        awaited.delete(id);
        // After a suspend, timers fire before buffered replies are read: check the job once more before timing out.
        const found = await backend.inTime(queue.lookUp(id)).catch(() => undefined);
        return found?.kind === 'ended' ? read(id, found.value) : onTimeout();
      });
      return job.againAt === undefined ? ending : inDoubt(id, ending);
    },
    settle,
    /** The queue store took the job. */
    added(id: string): void {
      const job = awaited.get(id);
      if (job) job.isAdded = true;
    },
    /** The job that a call here waits for. */
    awaited: (id: string): AwaitedJob<Data> | undefined => awaited.get(id),
    /** Whether a call here waits for a job. */
    isAwaited: pending.has,
    /** Calls `observer` when a job may have changed, also one that no call here waits for. It is a hint, never a promise. */
    observe: (id: string, observer: () => void): (() => void) => replies.follow(id, observer),
    /** Looks a job up now, if a call waits for it. */
    lookUp,
    get waiting() {
      return pending.size;
    },
    close: async (): Promise<void> => void (await Promise.all([rechecks.stop(), replies.close()])),
  };
}

/** Calls that wait under an id until they are settled. The first ending wins; every wait has a deadline. */
function createPendingCalls<T>() {
  const waiting = new Map<string, { resolve: (value: T | Promise<T>) => void; timer: Timer }>();

  function settle(id: string, value: T | Promise<T>): boolean {
    const wait = waiting.get(id);
    if (!wait) return false;
    waiting.delete(id);
    time.clearTimeout(wait.timer);
    wait.resolve(value);
    return true;
  }

  return {
    /** Waits under `id`. After `timeoutMs` the wait ends with what `onTimeout` comes to. One call at a time waits under an id. */
    enter(id: string, timeoutMs: number, onTimeout: () => T | Promise<T>): Promise<T> {
      if (waiting.has(id)) throw new Error(`a call already waits for ${id}`);
      return new Promise((resolve) => {
        waiting.set(id, { resolve, timer: time.setTimeout(() => settle(id, onTimeout()), timeoutMs) });
      });
    },
    settle,
    has: (id: string) => waiting.has(id),
    get size() {
      return waiting.size;
    },
  };
}

type RecheckOptions<Data, Ending> = Omit<Options<Data, Ending>, 'backend' | 'inDoubt'> & {
  settle: (id: string, ending: Ending | Promise<Ending>) => boolean;
};

/** Looks up the jobs that calls wait for, longest ago first. */
function createRechecks<Data, Ending>({ queue, read, known, onUnfinished, settle }: RecheckOptions<Data, Ending>) {
  const awaited = new Map<string, AwaitedJob<Data>>();
  const ticks = every(TICK_MS, recheckDue, () => {}); // the queue's health says so once, and the next tick tries again

  async function recheckDue(): Promise<void> {
    const now = time.now();
    const due = [...awaited].filter(([, { recheckAt }]) => recheckAt <= now).slice(0, RECHECKS_PER_TICK);
    await Promise.all(due.map(([id]) => lookUp(id)));
  }

  async function lookUp(id: string): Promise<void> {
    const entry = awaited.get(id);
    if (!entry) return;
    entry.recheckAt = time.now() + Math.max(RECHECK_AFTER_MS, (awaited.size / RECHECKS_PER_SECOND) * 1000);
    awaited.delete(id);
    awaited.set(id, entry); // moved to the end: entries that were looked up longer ago come first
    const found = await queue.lookUp(id);
    if (!awaited.has(id)) return;
    if (found.kind === 'ended') settle(id, read(id, found.value));
    else if (!(await hasEnded(id, entry, found.kind))) await onUnfinished(id, entry, found.kind);
  }

  /** Whether its wait is over, or ends here. */
  async function hasEnded(id: string, entry: AwaitedJob<Data>, state: 'open' | 'missing'): Promise<boolean> {
    const ending = known && (state === 'missing' || entry.againAt !== undefined) ? await known(id) : null;
    if (ending === null) return awaited.get(id) !== entry; // it may have ended meanwhile: then nobody adds it again
    settle(id, ending);
    // Another process that ends a job removes it, then adds its record: between the two, this one may have added the job again.
    if (state === 'open') await queue.removeWaiting(id);
    return true;
  }

  return {
    awaited,
    lookUp,
    recheckAll(): void {
      for (const entry of awaited.values()) entry.recheckAt = 0;
      void recheckDue().catch(() => {}); // the next tick tries again
    },
    stop: ticks.stop,
  };
}

import { randomUUID } from 'node:crypto';
import type { QueueEventsListener } from 'bullmq';
import type { ThrottledAlert } from '../../shared/runtime/logger.ts';
import { createPendingCalls } from '../../shared/runtime/pending-calls.ts';
import { every } from '../../shared/runtime/periodic.ts';
import type { JobQueue, QueueBackend } from '../../shared/store/queue-backend.ts';
import { STORE_ADVICE } from '../queue-health.ts';

const TICK_MS = 500;
/** 20 ms of the queue store's time. With more waiting, each is looked up less often. */
const RECHECKS_PER_TICK = 2000;
const RECHECK_AFTER_MS = 2000;

interface HelloListener extends QueueEventsListener {
  hello: (message: { from: string }, id: string) => void;
}

type Options<Data, Ending> = {
  backend: QueueBackend;
  queue: JobQueue<Data, unknown>;
  onCompleted: (id: string, value: unknown) => Ending;
  onFailed: (id: string, reason: string) => Ending;
  /** Called at each re-check of a job that has no ending yet. `recheckAt` says when to look again at the latest. */
  onUnfinished: (id: string, watched: Watched<Data>, state: 'pending' | 'missing') => Promise<void>;
  storeAlert: ThrottledAlert;
};

/** A job somebody waits for, since an epoch ms. */
export type Watched<Data> = { data: Data; since: number; recheckAt: number };

/**
 * Where callers of this process wait for jobs of one queue. One event stream tells of finished jobs; since an event may
 * be missed, every waiting id is also looked up again each 2 s.
 */
export function followJobs<Data, Ending>({
  backend,
  queue,
  onCompleted,
  onFailed,
  onUnfinished,
  storeAlert,
}: Options<Data, Ending>) {
  const pending = createPendingCalls<Ending>();
  const watched = new Map<string, Watched<Data>>();
  const observers = new Map<string, Set<() => void>>();
  const events = backend.openEvents(queue.name);

  events.on('completed', ({ jobId, returnvalue }) => {
    if (pending.has(jobId)) settle(jobId, onCompleted(jobId, returnvalue));
  });
  events.on('failed', ({ jobId, failedReason }) => {
    if (pending.has(jobId)) settle(jobId, onFailed(jobId, failedReason));
  });
  events.on('removed', ({ jobId }) => {
    const entry = watched.get(jobId);
    if (entry) entry.recheckAt = 0;
  });
  for (const name of ['progress', 'completed', 'failed', 'removed'] as const) {
    events.on(name, ({ jobId }: { jobId: string }) => {
      for (const observer of [...(observers.get(jobId) ?? [])]) observer();
    });
  }
  events.on('error', (error) => storeAlert.begins(error, STORE_ADVICE));
  const recheck = every(TICK_MS, recheckDue, () => {}); // the queue's health says so once, and the next tick tries again

  function settle(id: string, ending: Ending): boolean {
    watched.delete(id);
    return pending.settle(id, ending);
  }

  async function recheckDue(): Promise<void> {
    const now = Date.now();
    const due = [...watched].filter(([, { recheckAt }]) => recheckAt <= now).slice(0, RECHECKS_PER_TICK);
    await Promise.all(due.map(([id, entry]) => lookUp(id, entry)));
  }

  async function lookUp(id: string, entry: Watched<Data>): Promise<void> {
    entry.recheckAt = Date.now() + RECHECK_AFTER_MS;
    watched.delete(id);
    watched.set(id, entry); // at the end: the next turn is that of those who have waited longer for one
    const found = await look(id);
    if (!watched.has(id)) return;
    if (typeof found === 'object') settle(id, found.ending);
    else await onUnfinished(id, entry, found);
  }

  async function look(id: string): Promise<{ ending: Ending } | 'pending' | 'missing'> {
    const found = await queue.getBackend().isFinished(id, true);
    const [status, value] = Array.isArray(found) ? found : [found, ''];
    if (status === 1) return { ending: onCompleted(id, JSON.parse(value)) };
    if (status === 2) return { ending: onFailed(id, value) };
    return status === -1 ? 'missing' : 'pending';
  }

  /** After a suspend, timers fire before buffered Redis events are read: check the job once more before timing out. */
  async function lookOnceMore(id: string, onTimeout: () => Ending | Promise<Ending>): Promise<Ending> {
    const found = await backend.inTime(look(id)).catch(() => 'missing');
    return typeof found === 'object' ? found.ending : onTimeout();
  }

  return {
    /** Resolves once events arrive for sure: our own first one came back, so the cursor is a concrete one. */
    async ready(): Promise<void> {
      const me = randomUUID();
      const producer = backend.openEventsProducer(queue.name);
      producer.on('error', () => {}); // retried below
      let heard = false;
      events.on<HelloListener, 'hello'>('hello', ({ from }) => {
        heard ||= from === me;
      });
      while (!heard) {
        await producer.publishEvent({ eventName: 'hello', from: me }, backend.maxEvents).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await producer.close();
    },

    /** Waits for the end of one job, at most `timeoutMs`; then it ends as `onTimeout` says. Call it before the job is added. */
    wait(id: string, data: Data, timeoutMs: number, onTimeout: () => Ending | Promise<Ending>): Promise<Ending> {
      const since = Date.now();
      watched.set(id, { data, since, recheckAt: since + RECHECK_AFTER_MS });
      return pending.enter(id, timeoutMs, () => {
        watched.delete(id);
        return lookOnceMore(id, onTimeout);
      });
    },
    settle,
    /** Calls `observer` when something may have happened to a job, also one nobody waits for here; a hint, never a promise. */
    observe(id: string, observer: () => void): () => void {
      const own = observers.get(id) ?? new Set();
      observers.set(id, own.add(observer));
      return () => {
        own.delete(observer);
        if (own.size === 0) observers.delete(id);
      };
    },
    get waiting() {
      return pending.size;
    },
    async close(): Promise<void> {
      await recheck.stop();
      await events.close();
    },
  };
}

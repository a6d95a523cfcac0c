import { ErrorCode } from 'bullmq';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { type Time, timeOf } from '../../../src/shared/ports/time.ts';
import { type Counts, KEEP_ENDED_MS } from '../../../src/shared/queue/queue.ts';
import type { WorkerReport } from '../../../src/shared/queue/worker-registry.ts';
import type { BatchLimits, BatchStore } from '../../../src/shared/store/batches/batch-store.ts';
import { createEmbeddedBatches } from '../../../src/shared/store/embedded/stores/batches.ts';
import { createEmbeddedHistory } from '../../../src/shared/store/embedded/stores/history.ts';
import { createEmbeddedIdempotencyRecords } from '../../../src/shared/store/embedded/stores/idempotency-records.ts';
import type { Entry, Table } from '../../../src/shared/store/embedded/stores/tables.ts';
import type { HistoryLimits, HistoryPart, PartName, Publication } from '../../../src/shared/store/history/history.ts';
import type { IdempotencyRecords } from '../../../src/shared/store/idempotency/idempotency-records.ts';
import { createEmbeddedStore } from '../../../src/shared/store/key-value-store.ts';

/** A job as the store has it; never changed, only replaced. Texts are JSON, as in Redis. */
export type StoredJob = {
  readonly id: string;
  readonly state: 'waiting' | 'delayed' | 'active' | 'ended';
  readonly data: string;
  readonly head: string | null;
  readonly timestamp: number;
  /** How many times it was handed out. */
  readonly attemptsStarted: number;
  readonly processedOn: number | null;
  readonly progress: string | null;
  readonly returnvalue: string | null;
  readonly finishedOn: number | null;
  /** `until`: by the clock of the store. A job whose lock is over may be handed out again. */
  readonly lock: { readonly token: string; readonly until: number } | null;
};

/** What was published; to whom is in `channel`. Whoever hears nothing of it never will. */
export type Published = {
  channel: string;
  kind: 'ended' | 'changed' | 'event';
  /** The job, or the number of the event. */
  id: string;
  /** The value, or the fields of the event. */
  text: string;
};

/** A connection, as the store sees it. */
export type Listener = { message(published: Published): void; lost(): void };
export type Connection = {
  runId: string;
  subscribe(channel: string): void;
  unsubscribe(channel: string): void;
  close(): void;
};

export const channels = {
  reply: (address: string) => `reply:${address}`,
  change: (followers: string) => `change:${followers}`,
  events: (queue: string) => `events:${queue}`,
};

/** How the store says no to a command about a job: with the codes of BullMQ. */
export class Refused extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

type Delayed = { readonly id: string; readonly at: number };
type QueueData = {
  jobs: Map<string, StoredJob>;
  /** The next one to be handed out first. */
  wait: string[];
  delayed: Delayed[];
  /** Active jobs that the last check found without having been renewed since. */
  suspected: string[];
  checkedUntil: number;
  /** No finished job is older: most completions need not look for those that may leave. */
  oldest: number;
};
type StreamEvent = { readonly id: number; readonly fields: string };
type Data = {
  queues: Map<string, QueueData>;
  /** What history, batches, idempotency records and key-value store keep. */
  tables: Map<string, Map<string, Entry>>;
  workers: Map<string, { at: number; report: WorkerReport }>;
  events: Map<string, StreamEvent[]>;
};

/** An earlier state of the store, of all its parts. */
export type StoreCopy = { readonly data: Data };

export type SimulatedStore = ReturnType<typeof createStore>;

/** What the parts of the store share. `data` is another one after a restart. */
type World = { data: Data; now: () => number; publish: (published: Published) => void };

/** The queue store with everything that is in it. It does one thing after the other, at once, and knows no processes. `time`: its own clock. */
export function createStore(time: Time = timeOf()) {
  const connections = new Map<Connection, { listener: Listener; channels: Set<string> }>();
  const world: World = { data: empty(), now: time.now, publish };
  const jobs = createJobs(world);
  const inside = createProcess(timeOf.as(time));
  let stores = inside.run(() => openStores(world.data));
  let runs = 1;

  function publish(published: Published): void {
    for (const { listener, channels } of [...connections.values()])
      if (channels.has(published.channel)) listener.message(published);
  }

  function connect(listener: Listener): Connection {
    const own = new Set<string>();
    const connection: Connection = {
      runId: runId(),
      subscribe: (channel) => void own.add(channel),
      unsubscribe: (channel) => void own.delete(channel),
      close: () => void connections.delete(connection),
    };
    connections.set(connection, { listener, channels: own });
    return connection;
  }

  function become(data: Data, restart: boolean): void {
    world.data = data;
    stores = inside.run(() => openStores(data));
    if (restart) {
      runs++;
      const lost = [...connections.values()];
      connections.clear();
      for (const { listener } of lost) listener.lost();
    }
    jobs.wakeAll();
  }

  const runId = () => `run-${runs}`;

  return {
    runId,
    jobs,
    workers: createWorkerRegistry(world),
    events: createEvents(world),
    /** Calls one of the stores, which is done with the call before anything else happens. */
    inStores: <T>(act: (own: Stores) => T): T => inside.run(() => act(stores)),
    /** The ids of the batches that are not over. */
    runningBatches: () => runningIn(world.data),
    connect,
    /** Tells who listens now. */
    publish({ replyTo, message, followers }: Publication): void {
      publish({ channel: channels.change(followers), kind: 'changed', id: '', text: '' });
      const [, kind, id = '', text = ''] = /^(ended|changed) (\S+) (.*)$/s.exec(message) ?? [];
      if (replyTo !== undefined)
        publish({ channel: channels.reply(replyTo), kind: kind === 'ended' ? kind : 'changed', id, text });
    },
    copy: (): StoreCopy => ({ data: copyOf(world.data) }),
    /** The store starts again with what it had then. */
    restore: ({ data }: StoreCopy): void => become(copyOf(data), true),
    /** It loses everything: a restart without data, or a FLUSHALL in the run that goes on. */
    forgetAll: ({ restart = true } = {}): void => become(empty(), restart),
  };
}

export type Stores = ReturnType<typeof openStores>;

/** The stores of the product over tables in memory: what they keep beside the tables they find there again. */
function openStores({ tables }: Data) {
  const table = (name: string): Table => {
    const rows = tables.get(name) ?? new Map<string, Entry>();
    tables.set(name, rows);
    return openTable(rows);
  };
  const keys = createEmbeddedStore(table('store'));
  const parts = new Map<PartName, HistoryPart>();
  let records: IdempotencyRecords | undefined;
  let batches: BatchStore | undefined;
  return {
    keys,
    trees: createEmbeddedStore(table('trees')),
    records: (maxBytes: number) => (records ??= createEmbeddedIdempotencyRecords(maxBytes, table('records'))),
    batches: (limits: BatchLimits) => (batches ??= createEmbeddedBatches(limits, table('batches'))),
    history(part: PartName, limits: HistoryLimits): HistoryPart {
      const opened = parts.get(part) ?? createEmbeddedHistory(keys, limits, table(part));
      parts.set(part, opened);
      return opened;
    },
  };
}

function openTable(rows: Map<string, Entry>): Table {
  const readNow = (key: string) => rows.get(key)?.text ?? null;
  return {
    load: () => [...rows.values()].flatMap(({ key, info }) => (info === undefined ? [] : [{ key, info }])),
    async put(entries) {
      for (const entry of entries) rows.set(entry.key, { ...rows.get(entry.key), ...entry });
    },
    readNow,
    read: async (key) => readNow(key),
    async remove(keys) {
      for (const key of keys) rows.delete(key);
    },
    sure: async (seen) => seen,
  };
}

function runningIn({ tables }: Data): string[] {
  const infos = [...(tables.get('batches') ?? [])].filter(([key]) => !key.includes(':'));
  return infos.flatMap(([id, { info = '' }]) => (/"state":"(running|cancelling)"/.test(info) ? [id] : []));
}

function empty(): Data {
  return { queues: new Map(), tables: new Map(), workers: new Map(), events: new Map() };
}

function copyOf({ queues, tables, workers, events }: Data): Data {
  const copyQueue = (queue: QueueData): QueueData => ({
    ...queue,
    ...{ jobs: new Map(queue.jobs), wait: [...queue.wait], delayed: [...queue.delayed] },
    suspected: [...queue.suspected],
  });
  return {
    queues: new Map([...queues].map(([name, queue]) => [name, copyQueue(queue)])),
    tables: new Map([...tables].map(([name, rows]) => [name, new Map(rows)])),
    workers: new Map(workers),
    events: new Map([...events].map(([name, entries]) => [name, [...entries]])),
  };
}

function lockOf({ lock }: StoredJob, now: number): StoredJob['lock'] {
  return lock !== null && lock.until > now ? lock : null;
}

/** How a job that was added looks first. */
export type NewJob = Pick<StoredJob, 'id' | 'data' | 'head' | 'timestamp'>;
/** Who asks for a job, and when by the clock of the one who asks. */
export type Taking = {
  token: string;
  lockMs: number;
  now: number;
  /** Is told when there is a job, if there is none now. In the same step, so that it misses none. */
  waiter?: Waiter;
};
/** `delayUntil`: when the next delayed job is due, if no job was there. */
export type Taken = { job: StoredJob | null; delayUntil: number | null };
/** `text`: the value as JSON; `now`: by the clock of the worker. */
export type Finish = { id: string; token: string; text: string; now: number };
/** Told that a job may be taken now, or that one will be due at that time. */
export type Waiter = (at?: number) => void;

const CLEANED_AT_ONCE = 1000;
const NEVER = Number.POSITIVE_INFINITY;

function createJobs(world: World) {
  const waiters = new Map<string, Set<Waiter>>();

  function queueOf(name: string): QueueData {
    const known = world.data.queues.get(name);
    if (known) return known;
    const made: QueueData = {
      ...{ jobs: new Map(), wait: [], delayed: [], suspected: [], checkedUntil: 0 },
      oldest: NEVER,
    };
    world.data.queues.set(name, made);
    return made;
  }

  function wake(name: string, at?: number): void {
    const woken = [...(waiters.get(name) ?? [])];
    if (at === undefined) waiters.delete(name);
    for (const waiter of woken) waiter(at);
  }

  function change(queue: QueueData, job: StoredJob, changes: Partial<StoredJob>): StoredJob {
    const changed = { ...job, ...changes };
    queue.jobs.set(job.id, changed);
    return changed;
  }

  /** The job that a worker with this token holds; refuses like BullMQ does. */
  function held(queue: QueueData, { id, token }: { id: string; token: string }, command: string): StoredJob {
    const job = queue.jobs.get(id);
    if (!job) throw new Refused(ErrorCode.JobNotExist, `Missing key for job ${id}. ${command}`);
    const lock = lockOf(job, world.now());
    if (lock === null) throw new Refused(ErrorCode.JobLockNotExist, `Missing lock for job ${id}. ${command}`);
    if (lock.token !== token)
      throw new Refused(ErrorCode.JobLockMismatch, `Lock mismatch for job ${id}. Cmd ${command} from active`);
    queue.suspected = queue.suspected.filter((other) => other !== id);
    if (job.state === 'active') return job;
    change(queue, job, { lock: null });
    throw new Refused(ErrorCode.JobNotInState, `Job ${id} is not in the active state. ${command}`);
  }

  function promote(queue: QueueData, now: number): void {
    const due = queue.delayed.filter(({ at }) => at <= now);
    if (due.length === 0) return;
    queue.delayed = queue.delayed.filter(({ at }) => at > now);
    for (const { id } of due) {
      const job = queue.jobs.get(id);
      if (job) change(queue, job, { state: 'waiting' });
      queue.wait.push(id);
    }
  }

  function take(name: string, { token, lockMs, now, waiter }: Taking): Taken {
    const queue = queueOf(name);
    promote(queue, now);
    const job = queue.jobs.get(queue.wait.shift() ?? '');
    if (!job && waiter) waiters.set(name, (waiters.get(name) ?? new Set()).add(waiter));
    if (!job) return { job: null, delayUntil: queue.delayed[0]?.at ?? null };
    const lock = { token, until: world.now() + lockMs };
    const attemptsStarted = job.attemptsStarted + 1;
    return {
      job: change(queue, job, { state: 'active', lock, attemptsStarted, processedOn: now }),
      delayUntil: null,
    };
  }

  /** Jobs that finished that long ago leave when another one finishes. */
  function removeOld(queue: QueueData, before: number): number {
    if (queue.oldest > before) return 0;
    const finished = [...queue.jobs.values()].filter(({ state }) => state === 'ended');
    const old = finished.filter(({ finishedOn }) => (finishedOn ?? 0) <= before).slice(0, CLEANED_AT_ONCE);
    for (const { id } of old) queue.jobs.delete(id);
    const left = finished.filter(({ id }) => queue.jobs.has(id));
    queue.oldest = Math.min(NEVER, ...left.map(({ finishedOn }) => finishedOn ?? 0));
    return old.length;
  }

  function known(queue: QueueData, id: string, command: string): StoredJob {
    const job = queue.jobs.get(id);
    if (!job) throw new Refused(ErrorCode.JobNotExist, `Missing key for job ${id}. ${command}`);
    return job;
  }

  function drop(queue: QueueData, id: string): void {
    queue.jobs.delete(id);
    queue.wait = queue.wait.filter((other) => other !== id);
    queue.delayed = queue.delayed.filter((other) => other.id !== id);
  }

  return {
    /** An id that is there already stays as it is, whatever became of its job. */
    add(name: string, job: NewJob): void {
      const queue = queueOf(name);
      if (queue.jobs.has(job.id)) return;
      const fresh = { state: 'waiting', attemptsStarted: 0, processedOn: null, progress: null, lock: null } as const;
      queue.jobs.set(job.id, { ...job, ...fresh, returnvalue: null, finishedOn: null });
      queue.wait.push(job.id);
      wake(name);
    },

    take,

    /** After a restart there may be jobs again. */
    wakeAll(): void {
      for (const name of [...waiters.keys()]) wake(name);
    },

    finish(name: string, { id, token, text, now }: Finish): void {
      const queue = queueOf(name);
      const job = held(queue, { id, token }, 'moveToFinished');
      change(queue, job, { returnvalue: text, state: 'ended', lock: null, finishedOn: now });
      queue.oldest = Math.min(queue.oldest, now);
      removeOld(queue, now - KEEP_ENDED_MS);
    },

    /** Puts a job back until `now + delayMs`. */
    delay(name: string, { id, token, now, delayMs }: { id: string; token: string; now: number; delayMs: number }) {
      const queue = queueOf(name);
      const job = held(queue, { id, token }, 'moveToDelayed');
      const at = now + Math.max(delayMs, 0);
      change(queue, job, { state: 'delayed', lock: null });
      const before = queue.delayed.findIndex((other) => other.at > at);
      queue.delayed.splice(before < 0 ? queue.delayed.length : before, 0, { id, at });
      wake(name, queue.delayed[0]?.at);
    },

    /** Puts a job back: it is the next one. */
    putBack(name: string, holder: { id: string; token: string }): void {
      const queue = queueOf(name);
      const job = held(queue, holder, 'moveJobFromActiveToWait');
      change(queue, job, { state: 'waiting', lock: null });
      queue.wait.unshift(job.id);
      wake(name);
    },

    /** Renews locks; the ids of those that are lost. */
    renew(name: string, locks: readonly { id: string; token: string }[], lockMs: number): string[] {
      const queue = queueOf(name);
      const lost: string[] = [];
      for (const { id, token } of locks) {
        const job = queue.jobs.get(id);
        if (!job || lockOf(job, world.now())?.token !== token) {
          lost.push(id);
          continue;
        }
        change(queue, job, { lock: { token, until: world.now() + lockMs } });
        queue.suspected = queue.suspected.filter((other) => other !== id);
      }
      return lost;
    },

    /** Puts back the jobs whose locks are over and which the last check saw as well. */
    checkStalled(name: string, everyMs: number): string[] {
      const queue = queueOf(name);
      const now = world.now();
      if (queue.checkedUntil > now) return [];
      queue.checkedUntil = now + everyMs;
      const stalled = queue.suspected.flatMap((id) => {
        const job = queue.jobs.get(id);
        return job?.state === 'active' && lockOf(job, now) === null ? [job] : [];
      });
      for (const job of stalled) {
        change(queue, job, { state: 'waiting', lock: null });
        queue.wait.unshift(job.id);
      }
      queue.suspected = [...queue.jobs.values()].filter(({ state }) => state === 'active').map(({ id }) => id);
      if (stalled.length > 0) wake(name);
      return stalled.map(({ id }) => id);
    },

    setProgress(name: string, id: string, progress: string): void {
      const queue = queueOf(name);
      change(queue, known(queue, id, 'updateProgress'), { progress });
    },
    setData(name: string, id: string, data: string): void {
      const queue = queueOf(name);
      change(queue, known(queue, id, 'updateData'), { data });
    },

    get: (name: string, id: string): StoredJob | null => queueOf(name).jobs.get(id) ?? null,
    counts(name: string): Counts {
      const queue = queueOf(name);
      const taken = [...queue.jobs.values()].filter(({ state }) => state === 'active').length;
      return { waiting: queue.wait.length, snoozed: queue.delayed.length, taken };
    },
    /** The ids of the jobs that have not ended. */
    open: (name: string): string[] =>
      [...queueOf(name).jobs.values()].filter(({ state }) => state !== 'ended').map(({ id }) => id),

    /** Takes a job off that no worker has begun. */
    removeWaiting(name: string, id: string): boolean {
      const queue = queueOf(name);
      const job = queue.jobs.get(id);
      if (job?.state !== 'waiting' || job.attemptsStarted > 0) return false;
      drop(queue, id);
      return true;
    },
    /** Removes a job that no worker holds; false for one that is held. */
    remove(name: string, id: string): boolean {
      const queue = queueOf(name);
      const job = queue.jobs.get(id);
      if (job && lockOf(job, world.now()) !== null) return false;
      drop(queue, id);
      return true;
    },
    clean: (name: string, before: number): number => removeOld(queueOf(name), before),
    /** Jobs that finished within a time and are in no history. */
    missing(from: number, to: number, name: string): string[] {
      const isKept = (id: string) => ['calls', 'batches'].some((part) => world.data.tables.get(part)?.has(id));
      const isDue = ({ finishedOn }: StoredJob) => finishedOn !== null && finishedOn >= from && finishedOn <= to;
      return [...queueOf(name).jobs.values()].filter((job) => isDue(job) && !isKept(job.id)).map(({ id }) => id);
    },
  };
}

/** A worker that has not reported for so long does not count. */
const WORKER_COUNTS_MS = 5000;

function createWorkerRegistry(world: World) {
  return {
    report: (id: string, report: WorkerReport) => void world.data.workers.set(id, { at: world.now(), report }),
    withdraw: (id: string) => void world.data.workers.delete(id),
    read(): ReadonlyMap<string, WorkerReport> {
      const lately = [...world.data.workers].filter(([, { at }]) => at > world.now() - WORKER_COUNTS_MS);
      return new Map(lately.map(([id, { report }]) => [id, report]));
    },
  };
}

/** Streams of messages to all workers. Their numbers only grow, also over a copy that comes back: in Redis they are times. */
function createEvents(world: World) {
  let last = 0;
  return {
    publish(queue: string, fields: string, maxKept: number): void {
      last += 1;
      const entries = [...(world.data.events.get(queue) ?? []), { id: last, fields }];
      world.data.events.set(queue, entries.slice(-maxKept));
      world.publish({ channel: channels.events(queue), kind: 'event', id: String(last), text: fields });
    },
    /** The ones behind that number that are still there. */
    after: (queue: string, id: number): StreamEvent[] =>
      (world.data.events.get(queue) ?? []).filter((event) => event.id > id),
    last: () => last,
  };
}

import { ErrorCode } from 'bullmq';
import type { Settled } from '../../../src/shared/contract/execution-record.ts';
import type { Counts } from '../../../src/shared/queue/queue.ts';
import { KEEP_ENDED_MS } from '../../../src/shared/queue/queue.ts';
import {
  type HistoryLimits,
  type Indexed,
  MAX_INPUT_KEPT,
  memberOf,
  type Publication,
} from '../../../src/shared/store/history/history.ts';
import {
  ANSWER_BYTES,
  isRecordOf,
  KEY_SECONDS,
  type PutRecord,
  RECORD_BYTES,
} from '../../../src/shared/store/idempotency/idempotency-records.ts';
import { type BatchesData, createBatches, noBatches } from './simulated-batches.ts';

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
type Value = { readonly text: string; readonly until: number };
type Scores = Map<string, number>;
export type Part = 'calls' | 'batches' | 'pinned';
type HistoryData = { index: Scores; sizes: Map<string, number> };
type RecordsData = { all: Scores; due: Scores; answers: Scores; sizes: Map<string, number> };
type StreamEvent = { readonly id: number; readonly fields: string };
type Data = {
  queues: Map<string, QueueData>;
  /** Everything with an expiry: the key-value store, records and texts of the history, idempotency records and their answers. */
  values: Map<string, Value>;
  history: Record<Part, HistoryData>;
  records: RecordsData;
  workers: Scores;
  events: Map<string, StreamEvent[]>;
  batches: BatchesData;
};

/** An earlier state of the store, of all its parts. */
export type StoreCopy = { readonly data: Data };

/** `now`: the store's own clock, epoch ms. `from`: what it begins with. */
export type StoreOptions = { now: () => number; from?: StoreCopy };

export type SimulatedStore = ReturnType<typeof createStore>;

/** What the parts of the store share. `data` is another one after a restart. */
type World = { data: Data; now: () => number; publish: (published: Published) => void };

/** The queue store with everything that is in it. It does one thing after the other, at once, and knows no processes. */
export function createStore({ now, from }: StoreOptions) {
  const connections = new Map<Connection, { listener: Listener; channels: Set<string> }>();
  const world: World = { data: from ? copyOf(from.data) : empty(), now, publish };
  const jobs = createJobs(world);
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
    now,
    runId,
    jobs,
    keys: createKeys(world),
    records: createIdempotencyRecords(world),
    history: createHistory(world),
    workers: createWorkerRegistry(world),
    events: createEvents(world),
    batches: createBatches(world),
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
    /** All that is in it, in one order: equal stores have equal states. What is over by now is not in it. */
    state: () => stateOf(world, runId()),
  };
}

function empty(): Data {
  const part = (): HistoryData => ({ index: new Map(), sizes: new Map() });
  return {
    queues: new Map(),
    values: new Map(),
    history: { calls: part(), batches: part(), pinned: part() },
    records: { all: new Map(), due: new Map(), answers: new Map(), sizes: new Map() },
    workers: new Map(),
    events: new Map(),
    batches: noBatches(),
  };
}

function copyOf({ queues, values, history, records, workers, events, batches }: Data): Data {
  const copyPart = ({ index, sizes }: HistoryData): HistoryData => ({ index: new Map(index), sizes: new Map(sizes) });
  const copyQueue = ({ jobs, wait, delayed, suspected, checkedUntil, oldest }: QueueData): QueueData => ({
    ...{ jobs: new Map(jobs), wait: [...wait], delayed: [...delayed] },
    ...{ suspected: [...suspected], checkedUntil, oldest },
  });
  return {
    queues: new Map([...queues].map(([name, queue]) => [name, copyQueue(queue)])),
    values: new Map(values),
    history: { calls: copyPart(history.calls), batches: copyPart(history.batches), pinned: copyPart(history.pinned) },
    records: {
      all: new Map(records.all),
      due: new Map(records.due),
      answers: new Map(records.answers),
      sizes: new Map(records.sizes),
    },
    workers: new Map(workers),
    events: new Map([...events].map(([name, entries]) => [name, [...entries]])),
    batches: structuredClone(batches),
  };
}

function stateOf({ data, now }: World, run: string) {
  const at = now();
  const sorted = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  const part = ({ index, sizes }: HistoryData) => ({ index: sorted(index), sizes: sorted(sizes) });
  const { queues, values, history, records, workers, events, batches } = data;
  return {
    run,
    queues: sorted(queues).map(([name, { jobs, wait, delayed, suspected, checkedUntil }]) => ({
      name,
      jobs: sorted(jobs).map(([, job]) => ({ ...job, lock: lockOf(job, at) })),
      ...{ wait, delayed, suspected: [...suspected].sort(), checkedUntil: checkedUntil > at ? checkedUntil : 0 },
    })),
    values: sorted(values).filter(([, { until }]) => until > at),
    history: { calls: part(history.calls), batches: part(history.batches) },
    records: {
      all: sorted(records.all),
      due: sorted(records.due),
      answers: sorted(records.answers),
      sizes: sorted(records.sizes),
    },
    workers: sorted(workers).filter(([, told]) => told >= at - WORKER_COUNTS_MS),
    events: sorted(events),
    batches: sorted(batches.all).map(([, one]) => ({ ...one, items: [...one.items].sort(([a], [b]) => a - b) })),
    turns: sorted(batches.turns).map(([, { open, served }]) => ({ open: sorted(open), served: sorted(served) })),
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
      const isKept = (id: string) =>
        (['calls', 'batches'] as const).some((part) => liveValue(world, recordKey(part, id)));
      const isDue = ({ finishedOn }: StoredJob) => finishedOn !== null && finishedOn >= from && finishedOn <= to;
      return [...queueOf(name).jobs.values()].filter((job) => isDue(job) && !isKept(job.id)).map(({ id }) => id);
    },
  };
}

function liveValue({ data, now }: World, key: string): Value | null {
  const value = data.values.get(key);
  if (value && value.until > now()) return value;
  if (value) data.values.delete(key);
  return null;
}

const textOf = (world: World, key: string): string | null => liveValue(world, key)?.text ?? null;

function keep({ data, now }: World, key: string, text: string, seconds: number): void {
  data.values.set(key, { text, until: now() + seconds * 1000 });
}

const storeKey = (key: string) => `store:${key}`;

/** The key-value store. */
function createKeys(world: World) {
  function setIfAbsent(key: string, text: string, seconds: number): string {
    const there = textOf(world, storeKey(key));
    if (there === null) keep(world, storeKey(key), text, seconds);
    return there ?? text;
  }

  return {
    setIfAbsent,
    hold(key: string, text: string, seconds: number): string {
      const kept = setIfAbsent(key, text, seconds);
      if (kept === text) keep(world, storeKey(key), text, seconds);
      return kept;
    },
    get: (key: string) => textOf(world, storeKey(key)),
    remove: (key: string) => void world.data.values.delete(storeKey(key)),
  };
}

/** Members in the order of their scores, as Redis has them. */
function ordered(scores: Scores): [member: string, score: number][] {
  return [...scores].sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1));
}

function first(scores: Scores): [member: string, score: number] | undefined {
  let found: [string, number] | undefined;
  for (const [member, score] of scores)
    if (!found || score < found[1] || (score === found[1] && member < found[0])) found = [member, score];
  return found;
}

const sum = (sizes: ReadonlyMap<string, number>) => [...sizes.values()].reduce((total, size) => total + size, 0);

const storedKeyOf = (key: string) => `idempotency:${key}`;
const answerKey = (key: string) => `answer:${key}`;
const AT_ONCE = 100;

/** `now`: by the clock of the one who asks. */
type RecordsLimit = { now: number; maxBytes: number };

/** The records of calls under an Idempotency-Key, as the scripts of `redis-idempotency-records` keep them. */
function createIdempotencyRecords(world: World) {
  const records = () => world.data.records;

  function dropAnswer(key: string): void {
    world.data.values.delete(answerKey(key));
    records().answers.delete(key);
    records().sizes.delete(key);
  }

  function remove(key: string): void {
    records().all.delete(key);
    records().due.delete(key);
    dropAnswer(key);
  }

  function purge(now: number): void {
    const old = [...records().all].filter(([, at]) => at <= now - KEY_SECONDS * 1000);
    for (const [key] of old.slice(0, AT_ONCE)) remove(key);
  }

  function makeRoom(wanted: number, maxBytes: number): boolean {
    const taken = records().all.size * RECORD_BYTES;
    if (taken + wanted > maxBytes) return false;
    for (let tries = 0; tries < AT_ONCE; tries++) {
      if (taken + sum(records().sizes) + wanted <= maxBytes) return true;
      const oldest = first(records().answers);
      if (!oldest) return false;
      dropAnswer(oldest[0]);
    }
    return taken + sum(records().sizes) + wanted <= maxBytes;
  }

  type More = { dueAt?: number | undefined; answer?: string | undefined };
  function change(key: string, from: string, to: string | null, { dueAt, answer }: More, limit: RecordsLimit): boolean {
    const there = liveValue(world, storedKeyOf(key));
    if (there?.text !== from) return false;
    if (to === null) {
      world.data.values.delete(storedKeyOf(key));
      remove(key);
      return true;
    }
    world.data.values.set(storedKeyOf(key), { ...there, text: to });
    if (dueAt === undefined) records().due.delete(key);
    else records().due.set(key, dueAt);
    if (answer === undefined || answer === '') return true;
    dropAnswer(key);
    const size = Buffer.byteLength(answer) + ANSWER_BYTES;
    if (!makeRoom(size, limit.maxBytes)) return true;
    world.data.values.set(answerKey(key), { text: answer, until: there.until });
    records().answers.set(key, limit.now);
    records().sizes.set(key, size);
    return true;
  }

  return {
    put(key: string, text: string, dueAt: number, { now, maxBytes }: RecordsLimit): PutRecord {
      purge(now);
      const there = textOf(world, storedKeyOf(key));
      if (there !== null) return { kind: 'there', text: there };
      if (!makeRoom(RECORD_BYTES, maxBytes)) return { kind: 'full' };
      keep(world, storedKeyOf(key), text, KEY_SECONDS);
      records().all.set(key, now);
      records().due.set(key, dueAt);
      return { kind: 'put' };
    },
    get: (key: string) => textOf(world, storedKeyOf(key)),
    answer: (key: string) => textOf(world, answerKey(key)),
    change,
    erase(mockId: string, limit: RecordsLimit): void {
      for (const [key] of ordered(records().all)) {
        const text = textOf(world, storedKeyOf(key)) ?? '';
        if (isRecordOf(mockId, text)) change(key, text, null, {}, limit);
      }
    },
    due(count: number, againAfterMs: number, now: number): string[] {
      purge(now);
      const due = ordered(records().due).filter(([, at]) => at <= now);
      const keys = due.slice(0, count).map(([key]) => key);
      for (const key of keys) records().due.set(key, now + againAfterMs);
      return keys;
    },
  };
}

const historyKey = (part: Part, kind: string, mockId: string) => `history:${part}:${kind}:${mockId}`;
const recordKey = (part: Part, mockId: string) => historyKey(part, 'record', mockId);
/** A call that waits for a result may read it for so long although there is no room for it. */
const READABLE_SECONDS = 30;

/** `now`: by the clock of the one who asks. */
type HistoryLimit = { now: number; limits: HistoryLimits };

/** Settled executions, as the scripts of `redis-history` keep them; one history for calls, one for items of batches. */
function createHistory(world: World) {
  function trim(part: Part, { now, limits: { count, seconds, bytes } }: HistoryLimit): void {
    const { index, sizes } = world.data.history[part];
    for (let tries = 0; tries < AT_ONCE; tries++) {
      const oldest = first(index);
      if (!oldest) return;
      const [member, at] = oldest;
      const fits = index.size <= count && sum(sizes) <= bytes;
      if (fits && at + seconds * 1000 > now) return;
      const gone = member.slice(member.lastIndexOf('|') + 1);
      for (const kind of ['record', 'input', 'late']) world.data.values.delete(historyKey(part, kind, gone));
      const isAwaited = !liveValue(world, historyKey(part, 'delivered', gone));
      world.data.values.delete(historyKey(part, 'delivered', gone));
      const result = textOf(world, historyKey(part, 'result', gone));
      if (isAwaited && at + READABLE_SECONDS * 1000 > now && result !== null)
        keep(world, historyKey(part, 'result', gone), result, READABLE_SECONDS);
      else world.data.values.delete(historyKey(part, 'result', gone));
      sizes.delete(member);
      index.delete(member);
    }
  }

  return {
    add(part: Part, { record, input, result }: Settled, limit: HistoryLimit): void {
      const { mockId } = record;
      const { seconds } = limit.limits;
      if (liveValue(world, recordKey(part, mockId))) return;
      const text = JSON.stringify(record);
      const keptInput = input.length <= MAX_INPUT_KEPT ? input : '';
      const body = 'body' in result ? result.body : (textOf(world, storeKey(result.stored)) ?? '');
      if ('stored' in result) world.data.values.delete(storeKey(result.stored));
      if (body !== '') keep(world, historyKey(part, 'result', mockId), body, seconds);
      keep(world, recordKey(part, mockId), text, seconds);
      if (keptInput !== '') keep(world, historyKey(part, 'input', mockId), keptInput, seconds);
      const { index, sizes } = world.data.history[part];
      index.set(memberOf(record), limit.now);
      sizes.set(memberOf(record), Buffer.byteLength(text) + Buffer.byteLength(keptInput) + Buffer.byteLength(body));
      trim(part, limit);
    },
    record: (part: Part, mockId: string) => textOf(world, recordKey(part, mockId)),
    text: (part: Part, kind: 'input' | 'result' | 'late', mockId: string) =>
      textOf(world, historyKey(part, kind, mockId)),
    /** `stored`: the key of its result in the key-value store, where it lies until the history has it. */
    delivered(part: Part, mockId: string, stored: string): void {
      const isThere = liveValue(world, recordKey(part, mockId)) || liveValue(world, storeKey(stored));
      if (isThere) keep(world, historyKey(part, 'delivered', mockId), '', READABLE_SECONDS);
      else world.data.values.delete(historyKey(part, 'result', mockId));
    },
    addLate(
      part: Part,
      late: { mockId: string; member: string; body: string; changed: string },
      limit: HistoryLimit,
    ): void {
      const { mockId, member, body, changed } = late;
      const record = liveValue(world, recordKey(part, mockId));
      if (!record || liveValue(world, historyKey(part, 'late', mockId))) return;
      world.data.values.set(historyKey(part, 'late', mockId), { text: body, until: record.until });
      world.data.values.set(recordKey(part, mockId), { text: changed, until: record.until });
      const { sizes } = world.data.history[part];
      sizes.set(member, (sizes.get(member) ?? 0) + Buffer.byteLength(body));
      trim(part, limit);
    },
    erase(part: Part, mockId: string, member: string): void {
      for (const kind of ['record', 'input', 'result', 'late', 'delivered'])
        world.data.values.delete(historyKey(part, kind, mockId));
      world.data.history[part].index.delete(member);
      world.data.history[part].sizes.delete(member);
    },
    /** Members of the index, newest first, behind one of them. */
    page(part: Part, after: Indexed | null, count: number): Indexed[] {
      const newest = ordered(world.data.history[part].index)
        .reverse()
        .map(([member, at]) => ({ member, at }));
      const last = after === null ? -1 : newest.findIndex(({ member }) => member === after.member);
      if (last >= 0 || after === null) return newest.slice(last + 1, last + 1 + count);
      return newest.filter(({ at }) => at <= after.at).slice(0, count);
    },
  };
}

/** A worker that has not said for so long that it takes jobs does not count. */
const WORKER_COUNTS_MS = 5000;

function createWorkerRegistry(world: World) {
  return {
    announce: (id: string) => void world.data.workers.set(id, world.now()),
    withdraw: (id: string) => void world.data.workers.delete(id),
    list: () =>
      ordered(world.data.workers)
        .filter(([, at]) => at >= world.now() - WORKER_COUNTS_MS)
        .map(([id]) => id),
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

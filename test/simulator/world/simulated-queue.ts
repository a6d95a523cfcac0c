import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { isNotConnectionError, type Job, WaitingError } from 'bullmq';
import { ReplyError } from 'ioredis';
import { z } from 'zod';
import { type ExecutionRecord, recordSchema } from '../../../src/shared/contract/execution-record.ts';
import { parseJson } from '../../../src/shared/contract/json/parse-json.ts';
import { replyWithin } from '../../../src/shared/runtime/at-most.ts';
import { random } from '../../../src/shared/seams/random.ts';
import { type Timer, time } from '../../../src/shared/seams/time.ts';
import {
  type HistoryLimits,
  type HistoryPart,
  listPage,
  memberOf,
  resultKey,
} from '../../../src/shared/store/history/history.ts';
import { openHistory } from '../../../src/shared/store/history/open-history.ts';
import type { Trees } from '../../../src/shared/store/history/trees.ts';
import type { Store } from '../../../src/shared/store/key-value-store.ts';
import type { Notes } from '../../../src/shared/store/notes/notes.ts';
import { noArrivalsElsewhere } from '../../../src/shared/store/queue/arrivals.ts';
import { headIn } from '../../../src/shared/store/queue/job-heads.ts';
import type {
  EventsProducer,
  JobEvents,
  JobQueue,
  JobWorker,
  QueueBackend,
  ShortJob,
} from '../../../src/shared/store/queue/queue-backend.ts';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import { createFollowers, type Replies, type ReplyListener } from '../../../src/shared/store/replies/replies.ts';
import type { Ask, Gate } from './gate.ts';
import { openSimulatedBatches } from './simulated-batches.ts';
import {
  type Connection,
  channels,
  type Part,
  type Published,
  type SimulatedStore,
  type StoredJob,
  type Taken,
  type Waiter,
} from './store.ts';

/**
 * Something that a process is about to be told. `lost`: that its connection to the store broke. Whatever happens in the world before
 * `deliver` is called happens before the process knows; it need never be called.
 */
export type Message = { process: string; kind: Published['kind'] | 'lost'; channel: string; id: string };

export type SimulatedBackendOptions = {
  /** The name of the process. Everything here is to be called within it. */
  process: string;
  gate: Gate<SimulatedStore>;
  /** Decides when a message arrives, if at all. Without it each arrives at once. */
  onMessage?: (message: Message, deliver: () => void) => void;
  /** How long the jobs of a worker that died stay its own. */
  lockMs?: number;
  /** How often a worker without a job asks for one although nobody told it of any; 0: never. */
  drainMs?: number;
  /** How often a worker looks for jobs whose locks are over; 0: never. */
  stalledEveryMs?: number;
};

export type SimulatedBackend = QueueBackend & {
  simulated: {
    /** The connections of this process break; it notices when that message arrives, and connects again. */
    disconnect(): void;
    /** The process died: the store forgets its connections. */
    die(): void;
  };
};

/** What a command of the store fails with, in the words of its client: for whoever stands behind the gate. */
export const storeFaults = {
  /** It surely did nothing: there was no connection. */
  notSent: () => new Error("Stream isn't writeable and enableOfflineQueue options is false"),
  /** The connection broke while it was under way: it was done or not. A worker sends it again. */
  lost: () => new Error('Connection is closed.'),
  /** No reply came in time: it was done or not. */
  timedOut: () => new Error('Command timed out'),
  /** The store said no: it did nothing. */
  refused: (message = 'LOADING Redis is loading the dataset in memory'): Error => new ReplyError(message),
};

const LOCK_MS = 5000;
const DRAIN_MS = 5000;
const CHECKS_PER_LOCK = 5;
const REPLY_MS = 2000;
const MAX_EVENTS = 20_000;
/** A worker tries again so long after its connection broke; a process connects again so long after it noticed. */
const [RETRY_MS, RECONNECT_MS] = [500, 100];
const [YOUNGEST_MISSING_MS, OLDEST_MISSING_MS] = [10_000, 90_000];

const keysOf = (queue: string) => ({
  job: (id: string) => `${queue}:${id}`,
  wait: `${queue}:wait`,
  active: `${queue}:active`,
});

/** The channels that hear of a job. */
function toldOf(queue: string, id: string, replyTo: string | undefined): string[] {
  return [channels.change(queue, id), ...(replyTo === undefined ? [] : [channels.reply(replyTo)])];
}

const addressedSchema = z.object({ replyTo: z.string() });

/** An object with these members; whoever uses another one is told its name. */
function standIn<T extends object>(what: string, members: object): T {
  return new Proxy(members, {
    get(target, name, receiver) {
      if (name in target || typeof name === 'symbol' || name === 'then' || name === 'toJSON')
        return Reflect.get(target, name, receiver);
      throw new Error(`the simulated ${what} has no ${name}`);
    },
  }) as T;
}

type AskStore = Ask<SimulatedStore>;

/** The queue store as one simulated process sees it: each command is one step through the gate. */
export function createSimulatedBackend(options: SimulatedBackendOptions): SimulatedBackend {
  const { process, gate, lockMs = LOCK_MS } = options;
  let replies = 0;
  const ask: AskStore = async (name, on, writes, act) => {
    try {
      return await gate({ process, seam: 'queue', name, on, writes: writes === 'writes' }, act);
    } finally {
      replies++;
    }
  };
  const link = createLink(options, ask);
  const openQueue = <D, R>(name: string) => openSimulatedQueue<D, R>(name, ask);
  const takers = () => ask('takers.list', ['takers'], 'reads', ({ takers }) => takers.list());

  const members: SimulatedBackend = {
    where: `simulated, as ${process} sees it`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected: link.connected,
    examined: link.connected.then(() => undefined),
    probe: () => ask('probe', [`probe:${process}`], 'writes', () => {}),
    full: () => null,
    heard: () => replies,
    tellArrivals: noArrivalsElsewhere, // no key makes so many calls there that they are shared
    run: { last: link.lastRun, ask: () => ask('run', ['run'], 'reads', (store) => store.runId()) },
    takers: {
      tell: (id) => ask('takers.tell', ['takers'], 'writes', ({ takers }) => takers.tell(id)),
      withdraw: (id) => ask('takers.withdraw', ['takers'], 'writes', ({ takers }) => takers.withdraw(id)),
      list: takers,
      problems: async () => [],
      // Without them, an API refuses nothing for load.
      tellLoad: async () => {},
      loads: async () => new Map(),
    },
    directory: createMemoryDirectory(), // no worker of a simulated world meets another directory
    store: openKeys(ask),
    openNotes: (maxBytes) => openNotes(ask, maxBytes),
    openTrees: () => openTrees(openKeys(ask)),
    openHistory: (limits, options) => {
      const store = openKeys(ask);
      const open = (part: Part, own: HistoryLimits) => openHistoryPart(ask, part, own);
      return openHistory({ open, store, pinnedTrees: store, limits, ...options });
    },
    keepEndings: () => {},
    openMissingRecords: ({ name }) => openMissing(ask, name),
    openBatches: (limits) => openSimulatedBatches(ask, limits),
    maxEvents: MAX_EVENTS,
    openQueue,
    readShortJobs: ({ name }, ids) => {
      const { job, active } = keysOf(name);
      return ask('job.readShort', [...ids.map(job), active], 'reads', ({ jobs }) =>
        ids.map((id) => shortJob(jobs.get(name, id))),
      );
    },
    async eraseJob(queue, id) {
      await queue.remove(id, { removeChildren: false });
    },
    removeWaiting: ({ name }, id) => {
      const { job, wait } = keysOf(name);
      return ask('job.removeWaiting', [job(id), wait], 'writes', ({ jobs }) => jobs.removeWaiting(name, id));
    },
    onDisconnect: (_queue, listener) => link.onLost(listener),
    seesWorkers: true,
    removeOld: async (queue, olderThanMs) => {
      for (const state of ['completed', 'failed'] as const) await queue.clean(olderThanMs, 1000, state);
    },
    findWorkers: async (_queue, except) => (await takers()).filter((id) => id !== except).length,
    openReplies: ({ name }, listener) => openReplies(link, name, listener),
    async tellChange({ name }, id, replyTo) {
      const on = toldOf(name, id, replyTo);
      await ask('reply.change', on, 'writes', ({ jobs }) => jobs.tellChange(name, id, replyTo)).catch(() => {}); // a hint
    },
    openEvents: (name, { fromStart = false } = {}) => openEvents(link, ask, name, fromStart),
    openEventsProducer: (name) => openProducer(ask, name),
    openWorker: (name, processor, concurrency, { lockMs: own = lockMs } = {}) =>
      openBullWorker(name, { ...options, ask, processor, concurrency, lockMs: own }),
    close: async () => link.close(),
    simulated: { disconnect: link.disconnect, die: link.close },
  };
  return standIn<SimulatedBackend>('queue backend', members);
}

type Link = ReturnType<typeof createLink>;

/** The connection of a process, with everything that it listens to. Messages run within the process. */
function createLink({ process, onMessage = atOnce }: SimulatedBackendOptions, ask: AskStore) {
  const inside = AsyncLocalStorage.snapshot();
  const listeners = new Map<string, (published: Published) => void>();
  const lostListeners: (() => void)[] = [];
  const backListeners: (() => void)[] = [];
  const connected = Promise.withResolvers<void>();
  let connection: Connection | undefined;
  let lastRun: string | undefined;
  let closed = false;
  /** One that is lost already, and comes back in a moment, cannot be lost once more. */
  let isLost = false;

  function message(published: Published): void {
    const { kind, channel, id } = published;
    onMessage({ process, kind, channel, id }, () => inside(() => listeners.get(channel)?.(published)));
  }

  function lost(): void {
    connection?.close();
    connection = undefined;
    if (closed || isLost) return;
    isLost = true;
    const notice = () => {
      lastRun = undefined;
      for (const listener of lostListeners) listener();
      time.setTimeout(() => void connect(), RECONNECT_MS);
    };
    onMessage({ process, kind: 'lost', channel: 'connection', id: '' }, () => inside(notice));
  }

  async function connect(isFirst = false): Promise<void> {
    try {
      await ask('connect', ['run', ...listeners.keys()], 'writes', (store) => {
        connection?.close();
        connection = store.connect({ message, lost });
        for (const channel of listeners.keys()) connection.subscribe(channel);
      });
    } catch {
      return void time.setTimeout(() => void connect(isFirst), RETRY_MS);
    }
    isLost = false;
    lastRun = connection?.runId;
    connected.resolve();
    if (!isFirst) for (const listener of backListeners) listener();
  }

  void connect(true);

  return {
    connected: connected.promise,
    lastRun: () => lastRun,
    onLost: (listener: () => void) => void lostListeners.push(listener),
    onBack: (listener: () => void) => void backListeners.push(listener),
    /** Resolves once messages of this channel arrive. Over a lost connection it is done anew. */
    async listen(channel: string, listener: (published: Published) => void): Promise<void> {
      listeners.set(channel, listener);
      await connected.promise;
      await ask('subscribe', [channel], 'writes', () => connection?.subscribe(channel));
    },
    async forget(channel: string): Promise<void> {
      listeners.delete(channel);
      await ask('unsubscribe', [channel], 'writes', () => connection?.unsubscribe(channel)).catch(() => {});
    },
    disconnect: () => inside(lost),
    close(): void {
      closed = true;
      connection?.close();
    },
  };
}

function atOnce(_message: Message, deliver: () => void): void {
  void Promise.resolve().then(deliver);
}

/** How endings and changes of jobs reach a process, as `redis-replies` does it. */
function openReplies(link: Link, queue: string, { onReply, onBack }: ReplyListener): Replies {
  const address = `replies:${random.uuid()}`;
  const followers = createFollowers(
    (channel) =>
      void link
        .listen(channel, () => followers.tell(channel))
        .then(
          () => followers.tell(channel),
          () => {},
        ),
    (channel) => void link.forget(channel),
  );
  const ready = Promise.withResolvers<void>();
  link
    .listen(channels.reply(address), ({ kind, id, text }) => {
      if (kind === 'completed') onReply({ kind, id, value: parseJson(text) });
      else onReply({ kind: 'changed', id });
    })
    .then(ready.resolve, () => link.onBack(ready.resolve));
  link.onBack(onBack);
  return {
    address,
    ready: ready.promise,
    follow: (id, listener) => followers.add(channels.change(queue, id), listener),
    close: () => link.forget(channels.reply(address)),
  };
}

/** Messages to all workers: they are in the store, so that what came while the connection was lost is read later. */
function openEvents(link: Link, ask: AskStore, queue: string, fromStart: boolean): JobEvents {
  const emitter = new EventEmitter();
  const channel = channels.events(queue);
  let seen = 0;
  const tell = (id: number, fields: string) => {
    if (id <= seen) return;
    seen = id;
    const { eventName, ...message } = JSON.parse(fields);
    emitter.emit(eventName, message, String(id));
  };
  const readOn = async () => {
    const read = await ask('events.read', [channel], 'reads', ({ events }) => events.after(queue, seen));
    for (const { id, fields } of read) tell(id, fields);
  };
  const begin = async () => {
    if (!fromStart) seen = await ask('events.last', [channel], 'reads', ({ events }) => events.last());
    await link.listen(channel, ({ id, text }) => tell(Number(id), text));
    await readOn();
  };
  begin().catch((error) => emitter.emit('error', error));
  link.onBack(() => void readOn().catch((error) => emitter.emit('error', error)));
  const close = () => link.forget(channel);
  return standIn('QueueEvents', { ...listening(emitter), close });
}

function openProducer(ask: AskStore, queue: string): EventsProducer {
  return standIn('QueueEventsProducer', {
    ...listening(new EventEmitter()),
    publishEvent: (fields: object, maxKept: number) =>
      ask('events.publish', [channels.events(queue)], 'writes', ({ events }) =>
        events.publish(queue, JSON.stringify(fields), maxKept),
      ),
    close: async () => {},
  });
}

type On = (event: string, listener: (...args: unknown[]) => void) => unknown;

function listening(emitter: EventEmitter): { on: On; off: On } {
  return {
    on: (event, listener) => emitter.on(event, listener),
    off: (event, listener) => emitter.off(event, listener),
  };
}

function openKeys(ask: AskStore): Store {
  const on = (key: string) => [`store:${key}`];
  return {
    setIfAbsent: (key, value, seconds) =>
      ask('store.setIfAbsent', on(key), 'writes', ({ keys }) => keys.setIfAbsent(key, value, seconds)),
    hold: (key, value, seconds) => ask('store.hold', on(key), 'writes', ({ keys }) => keys.hold(key, value, seconds)),
    get: (key) => ask('store.get', on(key), 'reads', ({ keys }) => keys.get(key)),
    remove: (key) => ask('store.remove', on(key), 'writes', ({ keys }) => keys.remove(key)),
    close: async () => {},
  };
}

function openNotes(ask: AskStore, maxBytes: number): Notes {
  const on = ['notes']; // they share their room
  const limit = () => ({ now: time.now(), maxBytes });
  return {
    put(key, text, dueAt) {
      const own = limit();
      return ask('notes.put', on, 'writes', ({ notes }) => notes.put(key, text, dueAt, own));
    },
    get: (key) => ask('notes.get', on, 'reads', ({ notes }) => notes.get(key)),
    change(key, from, to, more = {}) {
      const own = limit();
      return ask('notes.change', on, 'writes', ({ notes }) => notes.change(key, from, to, more, own));
    },
    answer: (key) => ask('notes.answer', on, 'reads', ({ notes }) => notes.answer(key)),
    erase(mockId) {
      const own = limit();
      return ask('notes.erase', on, 'writes', ({ notes }) => notes.erase(mockId, own));
    },
    due(count, againAfterMs) {
      const now = time.now();
      return ask('notes.due', on, 'writes', ({ notes }) => notes.due(count, againAfterMs, now));
    },
  };
}

function toRecord(text: string | null): ExecutionRecord | null {
  return recordSchema.safeParse(text === null ? null : parseJson(text)).data ?? null;
}

/** One of both histories. That the oldest leaves another one's place is not in `on`: it takes more than any small world has. */
/** As many as there are: what leaves for want of room is not simulated. */
function openTrees({ hold, get }: Store): Trees {
  return {
    async keep(digest, tree, seconds) {
      await hold(`tree:${digest}`, tree, seconds);
    },
    get: (digest) => get(`tree:${digest}`),
  };
}

function openHistoryPart(ask: AskStore, part: Part, limits: HistoryLimits): HistoryPart {
  const on = (mockId: string) => [`history:${mockId}`];
  const read = (kind: 'input' | 'result' | 'late', mockId: string) =>
    ask(`history.${kind}`, on(mockId), 'reads', ({ history }) => history.text(part, kind, mockId));
  const get = async (mockId: string) =>
    toRecord(await ask('history.get', on(mockId), 'reads', ({ history }) => history.record(part, mockId)));
  return {
    add(settled) {
      const { record, result } = settled;
      const keys = [...on(record.mockId), 'history', ...('stored' in result ? [`store:${result.stored}`] : [])];
      const now = time.now();
      return ask('history.add', keys, 'writes', ({ history }) => history.add(part, settled, { now, limits }));
    },
    get,
    result: (mockId) => read('result', mockId),
    input: (mockId) => read('input', mockId),
    lateResult: (mockId) => read('late', mockId),
    delivered(mockId) {
      const stored = resultKey(mockId);
      return ask('history.delivered', [...on(mockId), `store:${stored}`], 'writes', ({ history }) =>
        history.delivered(part, mockId, stored),
      );
    },
    async addLateResult(mockId, body) {
      const record = await get(mockId);
      if (!record) return;
      const changed = JSON.stringify({ ...record, lateResult: true });
      const late = { mockId, member: memberOf(record), body, changed };
      const now = time.now();
      await ask('history.addLate', [...on(mockId), 'history'], 'writes', ({ history }) =>
        history.addLate(part, late, { now, limits }),
      );
    },
    async erase(mockId) {
      const record = await get(mockId);
      const member = record ? memberOf(record) : '';
      await ask('history.erase', [...on(mockId), 'history'], 'writes', ({ history }) =>
        history.erase(part, mockId, member),
      );
    },
    kept: () => Promise.reject(new Error('how much is kept is not simulated')),
    list: (filter) =>
      listPage(
        filter,
        (after, count) => ask('history.page', ['history'], 'reads', ({ history }) => history.page(part, after, count)),
        (mockIds) => Promise.all(mockIds.map(get)),
      ),
  };
}

/** Without the turn of several APIs, and for a history that has room. */
function openMissing(ask: AskStore, queue: string): () => Promise<string[]> {
  return () => {
    const now = time.now();
    return ask('history.missing', ['history', keysOf(queue).active], 'reads', ({ jobs }) =>
      jobs.missing(now - OLDEST_MISSING_MS, now - YOUNGEST_MISSING_MS, queue),
    );
  };
}

function shortJob(job: StoredJob | null): ShortJob | null {
  if (!job) return null;
  return {
    head: job.head === null ? null : headIn({ head: job.head }),
    timestamp: job.timestamp,
    begun: job.attemptsStarted > 0,
    progress: parseJson(job.progress ?? ''),
    finishedOn: job.finishedOn,
    returnvalue: parseJson(job.returnvalue ?? ''),
  };
}

type AddOptions = { jobId?: string; head?: string };

/** The queue, as far as the code under test uses it. */
function openSimulatedQueue<Data, Result>(name: string, ask: AskStore): JobQueue<Data, Result> {
  const { job, wait, active } = keysOf(name);
  const isFinished = (id: string) => ask('job.isFinished', [job(id)], 'reads', ({ jobs }) => jobs.isFinished(name, id));
  return standIn('Queue', {
    name,
    toKey: (part: string) => `${name}:${part}`,
    ...listening(new EventEmitter()),
    async add(_name: string, data: Data, { jobId: id, head }: AddOptions = {}): Promise<{ id: string }> {
      if (id === undefined) throw new Error('a simulated job needs an id');
      const added = { id, data: JSON.stringify(data), head: head ?? null, timestamp: time.now() };
      await ask('job.add', [job(id), wait], 'writes', ({ jobs }) => jobs.add(name, added));
      return { id };
    },
    async getJob(id: string): Promise<Job<Data, Result, string, object> | undefined> {
      const found = await ask('job.get', [job(id), active], 'reads', ({ jobs }) => jobs.get(name, id));
      return found ? openJob<Data, Result>(name, found, ask, LOCK_MS).job : undefined;
    },
    getBackend: () => standIn('backend of Queue', { isFinished }),
    remove: async (id: string) =>
      Number(await ask('job.remove', [job(id), wait, active], 'writes', ({ jobs }) => jobs.remove(name, id))),
    getJobCounts: () => ask('job.counts', [wait, active], 'reads', ({ jobs }) => jobs.counts(name)),
    getRanges: (states: StoredJob['state'][]) =>
      ask('job.ids', [wait, active], 'reads', ({ jobs }) => jobs.ids(name, states)),
    clean: (olderThanMs: number, _limit: number, state: 'completed' | 'failed') => {
      const before = time.now() - olderThanMs;
      return ask('job.clean', [active], 'writes', ({ jobs }) => jobs.clean(name, state, before));
    },
    close: async () => {},
  });
}

/** A job with the members that the code under test uses. What it holds is what it was when it was read, as in BullMQ. */
type JobMembers = {
  id: string;
  name: string;
  data: unknown;
  opts: object;
  timestamp: number;
  attemptsStarted: number;
  processedOn: number | undefined;
  progress: unknown;
  finishedOn: number | undefined;
  returnvalue: unknown;
  failedReason: string | undefined;
  token: string | undefined;
};
type Ending = { as: 'completed' | 'failed'; text: string };
type OpenJob<Data, Result> = {
  job: Job<Data, Result, string, object>;
  members: JobMembers;
  /** `next`: hands out the next job with it. `waiter`: is told when there is one, if there is none now. */
  finish(ending: Ending, token: string, next: boolean, waiter?: Waiter): Promise<Taken | null>;
};

function openJob<Data, Result>(
  queue: string,
  stored: StoredJob,
  ask: AskStore,
  lockMs: number,
  token?: string,
): OpenJob<Data, Result> {
  const { id } = stored;
  const { job: keyOf, wait, active } = keysOf(queue);
  const held = [keyOf(id), active];
  const members: JobMembers = {
    id,
    name: 'job',
    data: JSON.parse(stored.data),
    opts: stored.head === null ? {} : { head: stored.head },
    timestamp: stored.timestamp,
    attemptsStarted: stored.attemptsStarted,
    processedOn: stored.processedOn ?? undefined,
    progress: stored.progress === null ? 0 : JSON.parse(stored.progress),
    finishedOn: stored.finishedOn ?? undefined,
    returnvalue: stored.returnvalue === null ? null : JSON.parse(stored.returnvalue),
    failedReason: stored.failedReason ?? undefined,
    token,
  };

  async function finish({ as, text }: Ending, holder: string, next: boolean, waiter?: Waiter): Promise<Taken | null> {
    const now = time.now();
    const ending = { id, as, text, next, token: holder, lockMs, now, ...(waiter && { waiter }) };
    const told = toldOf(queue, id, addressedSchema.safeParse(members.data).data?.replyTo);
    const keys = [...held, ...(next ? [wait] : []), ...told];
    const taken = await ask(`job.${as}`, keys, 'writes', ({ jobs }) => jobs.finish(queue, ending));
    members.finishedOn = now;
    return taken;
  }

  const job = standIn<Job<Data, Result, string, object>>(
    'Job',
    Object.assign(members, {
      async updateProgress(progress: unknown): Promise<void> {
        members.progress = progress;
        const text = JSON.stringify(progress);
        const on = [...held, ...toldOf(queue, id, undefined)];
        await ask('job.progress', on, 'writes', ({ jobs }) => jobs.setProgress(queue, id, text));
      },
      async updateData(data: unknown): Promise<void> {
        members.data = data;
        const text = JSON.stringify(data);
        await ask('job.data', [keyOf(id)], 'writes', ({ jobs }) => jobs.setData(queue, id, text));
      },
      async moveToDelayed(until: number, holder = ''): Promise<void> {
        const now = time.now();
        const delayed = { id, token: holder, now, delayMs: Math.max(until - now, 0) };
        await ask('job.delay', [...held, wait], 'writes', ({ jobs }) => jobs.delay(queue, delayed));
      },
      async moveToWait(holder = ''): Promise<number> {
        await ask('job.putBack', [...held, wait], 'writes', ({ jobs }) => jobs.putBack(queue, { id, token: holder }));
        return 0;
      },
      moveToCompleted: (value: unknown, holder: string, next = true) =>
        finish({ as: 'completed', text: JSON.stringify(value ?? null) }, holder, next),
      moveToFailed(error: Error, holder: string, next = false) {
        members.failedReason = error.message;
        return finish({ as: 'failed', text: error.message }, holder, next);
      },
    }),
  );
  return { job, members, finish };
}

type Processor<Data, Result> = (job: Job<Data, Result, string, object>, token?: string) => Promise<Result>;

/** What a worker tells. `completed` and `failed`: the store accepted it. */
export type WorkerListener<Data, Result> = {
  completed?: (job: Job<Data, Result, string, object>, value: Result) => void;
  failed?: (job: Job<Data, Result, string, object>, error: Error) => void;
  lockLost?: (ids: string[]) => void;
  error?: (error: unknown) => void;
};

export type SimulatedWorkerOptions<Data, Result> = Omit<SimulatedBackendOptions, 'onMessage'> & {
  /** The queue, `executions` if not another one. */
  queue?: string;
  processor: Processor<Data, Result>;
  concurrency: number;
  on?: WorkerListener<Data, Result>;
};

export type SimulatedWorker<Data, Result> = ReturnType<typeof createSimulatedWorker<Data, Result>>;

/** Stands for BullMQ's Worker, as `EndingWorker` uses it. It takes jobs once it is run. */
export function createSimulatedWorker<Data, Result>(options: SimulatedWorkerOptions<Data, Result>) {
  const { process, gate, queue = 'executions' } = options;
  const ask: AskStore = (name, on, writes, act) =>
    gate({ process, seam: 'queue', name, on, writes: writes === 'writes' }, act);
  return startWorker<Data, Result>(queue, { ...options, ask });
}

type OwnOptions<Data, Result> = Omit<SimulatedWorkerOptions<Data, Result>, 'gate' | 'queue'> & { ask: AskStore };

/** The same with the members of BullMQ's Worker, for `openWorker`. */
function openBullWorker<Data, Result>(queue: string, options: OwnOptions<Data, Result>): JobWorker<Data, Result> {
  const emitter = new EventEmitter();
  const worker = startWorker<Data, Result>(queue, {
    ...options,
    on: {
      completed: (job, value) => emitter.emit('completed', job, value, 'active'),
      failed: (job, error) => emitter.emit('failed', job, error, 'active'),
      lockLost: (ids) => emitter.emit('lockRenewalFailed', ids),
      error: (error) => emitter.emit('error', error),
    },
  });
  const getBackend = () => standIn('backend of Worker', { moveStalledJobsToWait: worker.checkStalled });
  return standIn('Worker', { name: queue, ...listening(emitter), ...worker, getBackend });
}

function startWorker<Data, Result>(queue: string, options: OwnOptions<Data, Result>) {
  const { process, ask, processor, concurrency, on = {} } = options;
  const { lockMs = LOCK_MS, stalledEveryMs = lockMs / CHECKS_PER_LOCK } = options;
  const { wait, active } = keysOf(queue);
  const id = `${process}.${random.uuid()}`;
  const thrown = new WeakSet<object>();
  const idle = createIdle(options.drainMs ?? DRAIN_MS);
  const ended = Promise.withResolvers<void>();
  let tokens = 0;
  let open = 0;
  let drained = false;
  let [running, paused, closing, filling] = [false, false, false, false];
  let closed: Promise<void> | undefined;
  const locks = createLockManager({ queue, lockMs, ask, on, isClosed: () => closing && open === 0 });
  const stalled = createStalledChecks(stalledEveryMs, {
    check: () => ask('job.stalled', [wait, active], 'writes', ({ jobs }) => jobs.checkStalled(queue, stalledEveryMs)),
    isOn: () => running && !paused && !closing,
    onError: (error) => on.error?.(error),
  });

  /** Tries again for as long as the connection is lost. Any other error is told; `quietly`: and is no error of ours. */
  async function retried<T>(task: () => Promise<T>, quietly = false): Promise<T | undefined> {
    for (;;) {
      try {
        return await task();
      } catch (error) {
        const isOver = !(error instanceof Error) || isNotConnectionError(error) || closing;
        if (isOver && !closing && !paused) on.error?.(error);
        if (isOver && quietly) return undefined;
        if (isOver) throw error;
        await time.pause(RETRY_MS);
      }
    }
  }

  function toOpenJob(taken: Taken | null, token: string): OpenJob<Data, Result> | undefined {
    if (taken === null) return undefined;
    drained = taken.job === null;
    idle.until(taken.delayUntil);
    return taken.job ? openJob<Data, Result>(queue, taken.job, ask, lockMs, token) : undefined;
  }

  async function take(token: string): Promise<OpenJob<Data, Result> | undefined> {
    const taking = { token, lockMs, now: time.now(), waiter: idle.wake };
    const taken = await ask('take', [wait, active], 'writes', ({ jobs }) => jobs.take(queue, taking));
    return toOpenJob(taken, token);
  }

  /** The wait for a job goes on during a pause: a job that comes then is taken, once. */
  async function fetch(token: string): Promise<OpenJob<Data, Result> | undefined> {
    if (drained) await idle.wait();
    if (closing) return undefined;
    drained = false;
    const job = await retried(() => take(token), true);
    if (!job && !drained) await time.pause(RETRY_MS); // BullMQ would ask again at once
    return job;
  }

  async function fill(): Promise<void> {
    if (filling) return;
    filling = true;
    while (!closing && !paused && open < concurrency) {
      const token = `${id}:${tokens++}`;
      const job = await fetch(token);
      if (job) void occupy(job, token);
    }
    filling = false;
    if (closing && open === 0) ended.resolve();
  }

  /** One after the other: the next job may come with the end of this one, under the same token. */
  async function occupy(firstJob: OpenJob<Data, Result>, token: string): Promise<void> {
    open++;
    for (let job: OpenJob<Data, Result> | undefined = firstJob; job; ) job = await work(job, token);
    open--;
    if (closing && open === 0 && !filling) ended.resolve();
    void fill();
  }

  async function work(current: OpenJob<Data, Result>, token: string): Promise<OpenJob<Data, Result> | undefined> {
    const { job, members } = current;
    locks.track(members.id, token, members.processedOn);
    try {
      const value = await callProcessor(job, token);
      return await retried(() => {
        locks.untrack(members.id);
        return complete(current, value, token);
      });
    } catch (error) {
      return await retried(() => {
        locks.untrack(members.id);
        return fail(current, error, token);
      }, true);
    } finally {
      locks.untrack(members.id);
    }
  }

  async function callProcessor(job: Job<Data, Result, string, object>, token: string): Promise<Result> {
    try {
      return await processor(job, token);
    } catch (error) {
      if (error instanceof Error) thrown.add(error);
      throw error;
    }
  }

  const wantsNext = () => !closing && !paused;

  async function complete(current: OpenJob<Data, Result>, value: Result, token: string) {
    const text = JSON.stringify(value ?? null);
    const taken = await current.finish({ as: 'completed', text }, token, wantsNext(), idle.wake);
    on.completed?.(current.job, value);
    return toOpenJob(taken, token);
  }

  /** A job whose completion could not be written is left alone: its lock lapses. */
  async function fail(current: OpenJob<Data, Result>, cause: unknown, token: string) {
    const error = cause instanceof Error && thrown.has(cause) ? cause : new WaitingError();
    if (error.name === 'DelayedError' || error.name === 'WaitingError') return wantsNext() ? take(token) : undefined;
    current.members.failedReason = error.message;
    const taken = await current.finish({ as: 'failed', text: error.message }, token, wantsNext(), idle.wake);
    on.failed?.(current.job, error);
    return toOpenJob(taken, token);
  }

  async function closeOnce(): Promise<void> {
    closing = true;
    idle.end();
    if (open === 0 && !filling) ended.resolve();
    if (running) await ended.promise;
    locks.stop();
    stalled.stop();
  }

  /** Takes jobs until it is closed. */
  async function run(): Promise<void> {
    if (running) throw new Error('Worker is already running.');
    if (closing || paused) return;
    running = true;
    stalled.start();
    void fill();
    await ended.promise;
    running = false;
  }

  return {
    id,
    run,
    isPaused: () => paused,
    isRunning: () => running,
    /** Takes no more jobs; the one it waits for may still come. With `false` it resolves once those it has are done. */
    async pause(doNotWaitActive = false): Promise<void> {
      paused = true;
      stalled.stop();
      while (!doNotWaitActive && open > 0) await time.pause(RECONNECT_MS);
    },
    resume(): void {
      paused = false;
      if (!running) return void run();
      stalled.start();
      void fill();
    },
    /** Takes no more jobs, and resolves once those it has are done. */
    close: (): Promise<void> => (closed ??= closeOnce()),
    /** The next job, for whoever carries it out by hand. */
    async getNextJob(token: string, _options?: object): Promise<Job<Data, Result, string, object> | undefined> {
      return (await take(token))?.job;
    },
    /** Renews locks now; the ids of those that are lost. */
    extendJobLocks(ids: string[], held: string[], durationMs: number): Promise<string[]> {
      const { job } = keysOf(queue);
      const own = ids.map((id, index) => ({ id, token: held[index] ?? '' }));
      return ask('job.renew', [...ids.map(job), active], 'writes', ({ jobs }) => jobs.renew(queue, own, durationMs));
    },
    /** Looks for stalled jobs now; the ids of those that are put back. */
    checkStalled: () =>
      ask('job.stalled', [wait, active], 'writes', ({ jobs }) => jobs.checkStalled(queue, stalledEveryMs)),
  };
}

/** The wait of a worker that found no job. */
function createIdle(drainMs: number) {
  let isThere = false;
  let over = false;
  let dueAt = Number.POSITIVE_INFINITY;
  let stir = () => {};

  return {
    /** Something is there, or will be at a time by the clock of this process. */
    wake(at?: number): void {
      if (at === undefined) isThere = true;
      else dueAt = Math.min(dueAt, at);
      stir();
    },
    until(at: number | null): void {
      dueAt = at ?? Number.POSITIVE_INFINITY;
    },
    async wait(): Promise<void> {
      const askAt = drainMs > 0 ? time.monotonic() + drainMs : Number.POSITIVE_INFINITY;
      while (!isThere && !over) {
        const ms = Math.min(askAt - time.monotonic(), dueAt - time.now());
        if (ms <= 0) break;
        await new Promise<void>((resolve) => {
          const timer = Number.isFinite(ms) ? time.setTimeout(resolve, Math.ceil(ms)) : undefined;
          stir = () => {
            time.clearTimeout(timer);
            resolve();
          };
        });
      }
      isThere = false;
    },
    end(): void {
      over = true;
      stir();
    },
  };
}

type LockOptions<Data, Result> = {
  queue: string;
  lockMs: number;
  ask: AskStore;
  on: WorkerListener<Data, Result>;
  isClosed: () => boolean;
};

/**
 * Renews the locks of the jobs a worker has, each half of their time. As in BullMQ they are known by the id alone: of a job that came back to
 * the worker that still has it, the end of one ends the renewal of both.
 */
function createLockManager<Data, Result>({ queue, lockMs, ask, on, isClosed }: LockOptions<Data, Result>) {
  const tracked = new Map<string, { token: string; since: number }>();
  const everyMs = lockMs / 4;
  let timer: Timer | undefined;

  async function renew(ids: string[]): Promise<void> {
    const held = ids.map((id) => ({ id, token: tracked.get(id)?.token ?? '' }));
    const { job, active } = keysOf(queue);
    try {
      const lost = await ask('job.renew', [...ids.map(job), active], 'writes', ({ jobs }) =>
        jobs.renew(queue, held, lockMs),
      );
      if (lost.length > 0) on.lockLost?.(lost);
      for (const id of lost) on.error?.(new Error(`could not renew lock for job ${id}`));
    } catch (error) {
      on.error?.(error);
    }
  }

  async function tick(): Promise<void> {
    const now = time.now();
    const due = [...tracked].filter(([, { since }]) => since + everyMs < now).map(([id]) => id);
    for (const id of due) tracked.set(id, { token: tracked.get(id)?.token ?? '', since: now });
    if (due.length > 0) await renew(due);
    timer = undefined;
    schedule();
  }

  function schedule(): void {
    if (tracked.size > 0 && !isClosed()) timer ??= time.setTimeout(() => void tick(), everyMs);
  }

  return {
    track(id: string, token: string, processedOn: number | undefined): void {
      tracked.set(id, { token, since: processedOn ?? time.now() });
      schedule();
    },
    untrack: (id: string) => void tracked.delete(id),
    stop(): void {
      tracked.clear();
      time.clearTimeout(timer);
    },
  };
}

type Checks = { check: () => Promise<unknown>; isOn: () => boolean; onError: (error: unknown) => void };

function createStalledChecks(everyMs: number, { check, isOn, onError }: Checks) {
  let timer: Timer | undefined;
  let generation = 0;

  async function loop(own: number): Promise<void> {
    if (own !== generation || !isOn()) return;
    await check().catch(onError);
    if (own !== generation || !isOn()) return;
    timer = time.setTimeout(() => void loop(own), everyMs);
  }

  return {
    start(): void {
      if (everyMs > 0) void loop(++generation);
    },
    stop(): void {
      generation++;
      time.clearTimeout(timer);
    },
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { isNotConnectionError } from 'bullmq';
import { ReplyError } from 'ioredis';
import { z } from 'zod';
import { type ExecutionRecord, recordSchema } from '../../../src/shared/contract/execution-record.ts';
import { parseJson } from '../../../src/shared/contract/json/parse-json.ts';
import { random } from '../../../src/shared/ports/process.ts';
import { type Timer, time } from '../../../src/shared/ports/time.ts';
import { createFollowers } from '../../../src/shared/queue/followers.ts';
import type {
  Queue,
  QueueWorker,
  Replies,
  ReplyListener,
  ShortJob,
  TakenJob,
  WholeJob,
  WorkerOptions,
} from '../../../src/shared/queue/queue.ts';
import type { Listening, QueueBackend, QueueOptions, Sender } from '../../../src/shared/queue/queue-backend.ts';
import { openTakenJob } from '../../../src/shared/queue/taken-job.ts';
import { replyWithin } from '../../../src/shared/runtime/async.ts';
import {
  type HistoryLimits,
  type HistoryPart,
  listPage,
  memberOf,
  openHistory,
  type Publication,
  resultKey,
} from '../../../src/shared/store/history/history.ts';
import type { Trees } from '../../../src/shared/store/history/trees.ts';
import type { IdempotencyRecords } from '../../../src/shared/store/idempotency/idempotency-records.ts';
import type { Store } from '../../../src/shared/store/key-value-store.ts';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import type { Ask, Gate } from './gate.ts';
import { openSimulatedBatches } from './simulated-batches.ts';
import {
  type Connection,
  channels,
  type Part,
  type Published,
  Refused,
  type SimulatedStore,
  type StoredJob,
  type Taken,
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
/** A worker tries again so long after its connection broke; a process connects again so long after it noticed. */
const [RETRY_MS, RECONNECT_MS] = [500, 100];
const [YOUNGEST_MISSING_MS, OLDEST_MISSING_MS] = [10_000, 90_000];

const keysOf = (queue: string) => ({
  job: (id: string) => `${queue}:${id}`,
  wait: `${queue}:wait`,
  active: `${queue}:active`,
});

/** The channels that hear of a job. */
const toldOf = (publication: Publication | undefined): string[] =>
  publication
    ? [channels.change(publication.followers), ...(publication.replyTo ? [channels.reply(publication.replyTo)] : [])]
    : [];

const addressedSchema = z.object({ replyTo: z.string().optional() });

type AskStore = Ask<SimulatedStore>;

/** The queue store as one simulated process sees it: each command is one step through the gate. */
export function createSimulatedBackend(options: SimulatedBackendOptions): SimulatedBackend {
  const { process, gate, lockMs = LOCK_MS } = options;
  let replies = 0;
  const ask: AskStore = async (name, on, writes, act) => {
    try {
      return await gate({ process, port: 'queue', name, on, writes: writes === 'writes' }, act);
    } finally {
      replies++;
    }
  };
  const link = createLink(options, ask);
  const workers = () => ask('workers.list', ['workers'], 'reads', ({ workers }) => workers.list());

  const members: SimulatedBackend = {
    where: `simulated, as ${process} sees it`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected: link.connected,
    examined: link.connected.then(() => undefined),
    probe: () => ask('probe', [`probe:${process}`], 'writes', () => {}),
    full: () => null,
    lastActivity: () => replies,
    run: { last: link.lastRun, ask: () => ask('run', ['run'], 'reads', (store) => store.runId()) },
    workers: {
      announce: (id) => ask('workers.announce', ['workers'], 'writes', ({ workers }) => workers.announce(id)),
      withdraw: (id) => ask('workers.withdraw', ['workers'], 'writes', ({ workers }) => workers.withdraw(id)),
      list: workers,
      problems: async () => [],
      // Without them, an API refuses nothing for load.
      reportLoad: async () => {},
      loads: async () => new Map(),
    },
    directory: createMemoryDirectory(), // no worker of a simulated world meets another directory
    store: openKeys(ask),
    openIdempotencyRecords: (maxBytes) => openIdempotencyRecords(ask, maxBytes),
    openTrees: () => openTrees(openKeys(ask)),
    openHistory: (limits, options) => {
      const store = openKeys(ask);
      const open = (part: Part, own: HistoryLimits) => openHistoryPart(ask, part, own);
      return openHistory({ open, store, pinnedTrees: store, limits, ...options });
    },
    openBatches: (limits) => openSimulatedBatches(ask, limits),
    seesWorkers: true,
    findWorkers: async (except) => (await workers()).filter((id) => id !== except).length,
    openQueue: <Data>(name: string, own: QueueOptions = {}) => openQueue<Data>(name, { ask, link }, own),
    openWorker: (name, work, own) => openWorker(name, work, { ...options, ask, ...own, lockMs: own.lockMs ?? lockMs }),
    openSender: (name, maxKept) => openSender(ask, name, maxKept),
    listen: (name, onMessage, { fromStart = false } = {}) => listen({ link, ask, name, fromStart }, onMessage),
    close: async () => link.close(),
    simulated: { disconnect: link.disconnect, die: link.close },
  };
  return members;
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
      if (kind === 'ended') onReply({ kind, id, value: parseJson(text) });
      else onReply({ kind: 'changed', id });
    })
    .then(ready.resolve, () => link.onBack(ready.resolve));
  link.onBack(onBack);
  return {
    address,
    ready: ready.promise,
    follow: (id, listener) => followers.add(channels.change(followersOf(queue, id)), listener),
    close: () => link.forget(channels.reply(address)),
  };
}

type ListenOptions = { link: Link; ask: AskStore; name: string; fromStart: boolean };

/** Messages to all: they are in the store, so that what came while the connection was lost is read later. */
function listen({ link, ask, name, fromStart }: ListenOptions, onMessage: (message: unknown) => void): Listening {
  const channel = channels.events(name);
  let seen = 0;
  const tell = (id: number, fields: string) => {
    if (id <= seen) return;
    seen = id;
    onMessage(JSON.parse(fields));
  };
  const readOn = async () => {
    const read = await ask('events.read', [channel], 'reads', ({ events }) => events.after(name, seen));
    for (const { id, fields } of read) tell(id, fields);
  };
  const begin = async () => {
    if (!fromStart) seen = await ask('events.last', [channel], 'reads', ({ events }) => events.last());
    await link.listen(channel, ({ id, text }) => tell(Number(id), text));
    await readOn();
  };
  begin().catch(() => {});
  link.onBack(() => void readOn().catch(() => {}));
  return { close: () => link.forget(channel) };
}

function openSender(ask: AskStore, name: string, maxKept: number): Sender {
  return {
    send: (message) =>
      ask('events.publish', [channels.events(name)], 'writes', ({ events }) =>
        events.publish(name, JSON.stringify(message), maxKept),
      ),
    close: async () => {},
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

function openIdempotencyRecords(ask: AskStore, maxBytes: number): IdempotencyRecords {
  const on = ['idempotency_records']; // they share their room
  const limit = () => ({ now: time.now(), maxBytes });
  return {
    put(key, text, dueAt) {
      const own = limit();
      return ask('records.put', on, 'writes', ({ records }) => records.put(key, text, dueAt, own));
    },
    get: (key) => ask('records.get', on, 'reads', ({ records }) => records.get(key)),
    change(key, from, to, more = {}) {
      const own = limit();
      return ask('records.change', on, 'writes', ({ records }) => records.change(key, from, to, more, own));
    },
    answer: (key) => ask('records.answer', on, 'reads', ({ records }) => records.answer(key)),
    erase(mockId) {
      const own = limit();
      return ask('records.erase', on, 'writes', ({ records }) => records.erase(mockId, own));
    },
    due(count, againAfterMs) {
      const now = time.now();
      return ask('records.due', on, 'writes', ({ records }) => records.due(count, againAfterMs, now));
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
    add(settled, publication) {
      const { record, result } = settled;
      const stored = 'stored' in result ? [`store:${result.stored}`] : [];
      const keys = [...on(record.mockId), 'history', ...stored, ...toldOf(publication)];
      const now = time.now();
      return ask('history.add', keys, 'writes', (store) => {
        store.history.add(part, settled, { now, limits });
        if (publication) store.publish(publication);
      });
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

function jobOf(job: StoredJob): Omit<ShortJob, 'head'> {
  return {
    addedAt: job.timestamp,
    begun: job.attemptsStarted > 0,
    progress: parseJson(job.progress ?? ''),
    endedAt: job.finishedOn,
    value: parseJson(job.returnvalue ?? 'null'),
  };
}

const shortJob = (job: StoredJob | null): ShortJob | null =>
  job && { ...jobOf(job), head: job.head === null ? null : parseJson(job.head) };

const wholeJob = (job: StoredJob | null): WholeJob | null => job && { ...jobOf(job), data: JSON.parse(job.data) };

type Connected = { ask: AskStore; link: Link };

function openQueue<Data>(name: string, { ask, link }: Connected, { onDisconnect }: QueueOptions): Queue<Data> {
  const { job, wait, active } = keysOf(name);
  if (onDisconnect) link.onLost(onDisconnect);
  return {
    name,
    async add(id, data, { head } = {}) {
      const added = { id, data: JSON.stringify(data), head: head ?? null, timestamp: time.now() };
      await ask('job.add', [job(id), wait], 'writes', ({ jobs }) => jobs.add(name, added));
    },
    async lookUp(id) {
      const found = await ask('job.lookUp', [job(id)], 'reads', ({ jobs }) => jobs.get(name, id));
      if (!found) return { kind: 'missing' };
      return found.finishedOn === null ? { kind: 'open' } : { kind: 'ended', value: jobOf(found).value };
    },
    read: async (id) => wholeJob(await ask('job.get', [job(id), active], 'reads', ({ jobs }) => jobs.get(name, id))),
    async readShort(ids) {
      const keys = [...ids.map(job), active];
      const found = await ask('job.readShort', keys, 'reads', ({ jobs }) => ids.map((id) => jobs.get(name, id)));
      return found.map(shortJob);
    },
    listOpen: () => ask('job.ids', [wait, active], 'reads', ({ jobs }) => jobs.open(name)),
    count: () => ask('job.counts', [wait, active], 'reads', ({ jobs }) => jobs.counts(name)),
    removeWaiting: (id) =>
      ask('job.removeWaiting', [job(id), wait], 'writes', ({ jobs }) => jobs.removeWaiting(name, id)),
    erase: async (id) =>
      void (await ask('job.remove', [job(id), wait, active], 'writes', ({ jobs }) => jobs.remove(name, id))),
    async removeOld(olderThanMs) {
      const before = time.now() - olderThanMs;
      await ask('job.clean', [active], 'writes', ({ jobs }) => jobs.clean(name, before));
    },
    // Without the turn of several APIs, and for a history that has room.
    missingRecords() {
      const now = time.now();
      return ask('history.missing', ['history', active], 'reads', ({ jobs }) =>
        jobs.missing(now - OLDEST_MISSING_MS, now - YOUNGEST_MISSING_MS, name),
      );
    },
    openReplies: (listener) => openReplies(link, name, listener),
    tellChange: (id, replyTo) => publish(ask, { replyTo, message: `changed ${id} `, followers: followersOf(name, id) }),
    close: async () => {},
  };
}

const followersOf = (queue: string, id: string) => `${queue} ${id}`;

/** A message of which nothing depends. */
function publish(ask: AskStore, publication: Publication): Promise<void> {
  return ask('publish', toldOf(publication), 'writes', (store) => store.publish(publication)).catch(() => {});
}

type WorkerParts = Omit<SimulatedBackendOptions, 'onMessage' | 'gate'> & WorkerOptions & { ask: AskStore };

/** A worker that takes jobs from the store. What is refused to it is repeated as on Redis: by the same code. */
function openWorker(
  queue: string,
  work: (job: TakenJob) => Promise<unknown>,
  options: WorkerParts & { lockMs: number },
): QueueWorker {
  const { process, ask, concurrency, lockMs, records, onDefect, onError = () => {} } = options;
  const { stalledEveryMs = lockMs / CHECKS_PER_LOCK } = options;
  const { job: keyOf, wait, active } = keysOf(queue);
  const id = `${process}.${random.uuid()}`;
  const idle = createIdle(options.drainMs ?? DRAIN_MS);
  const ended = Promise.withResolvers<void>();
  const lost = new Set<string>();
  let tokens = 0;
  let open = 0;
  let drained = false;
  let [running, paused, closing, filling] = [false, false, false, false];
  const onLost = (ids: string[]) => {
    for (const one of ids) lost.add(one);
    options.onLost?.(ids);
  };
  const locks = createLockManager({ queue, lockMs, ask, onLost, onError, isClosed: () => closing && open === 0 });
  const checkStalled = async () => {
    const stalled = await ask('job.stalled', [wait, active], 'writes', ({ jobs }) =>
      jobs.checkStalled(queue, stalledEveryMs),
    );
    for (const one of stalled) options.onStalled?.(one);
  };
  const stalled = createStalledChecks(stalledEveryMs, {
    check: checkStalled,
    isOn: () => running && !paused && !closing,
    onError,
  });

  /** Asks again for as long as the connection is lost. Any other error is told. */
  async function takeAgain(token: string): Promise<Taken | undefined> {
    for (;;) {
      const taking = { token, lockMs, now: time.now(), waiter: idle.wake };
      try {
        return await ask('take', [wait, active], 'writes', ({ jobs }) => jobs.take(queue, taking));
      } catch (error) {
        if (!closing && !paused) onError(error);
        if (!(error instanceof Error) || isNotConnectionError(error) || closing) return undefined;
        await time.pause(RETRY_MS);
      }
    }
  }

  async function take(token: string): Promise<StoredJob | undefined> {
    const taken = await takeAgain(token);
    if (!taken) return undefined;
    drained = taken.job === null;
    idle.until(taken.delayUntil);
    return taken.job ?? undefined;
  }

  /** The wait for a job goes on during a pause: a job that comes then is taken, once. */
  async function fetch(token: string): Promise<StoredJob | undefined> {
    if (drained) await idle.wait();
    if (closing) return undefined;
    drained = false;
    const job = await take(token);
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

  /** One after the other: the next job is taken under the same token. */
  async function occupy(first: StoredJob, token: string): Promise<void> {
    open++;
    for (let job: StoredJob | undefined = first; job; ) {
      locks.track(job.id, token, job.processedOn ?? undefined);
      lost.delete(job.id);
      const taken = takenJob(job, token);
      await work(taken).catch((error) => {
        onDefect?.(taken.id, error);
        return taken.finish(null);
      });
      locks.untrack(job.id);
      job = closing || paused ? undefined : await take(token);
    }
    open--;
    if (closing && open === 0 && !filling) ended.resolve();
    void fill();
  }

  function takenJob(stored: StoredJob, token: string): TakenJob {
    const { id, timestamp: addedAt, attemptsStarted } = stored;
    const held = [keyOf(id), active];
    const { progress } = jobOf(stored);
    const own = { id, data: JSON.parse(stored.data), addedAt, progress, isFirstDelivery: attemptsStarted <= 1 };
    return openTakenJob(
      own,
      {
        async complete(value) {
          const now = time.now();
          const text = JSON.stringify(value);
          await ask('job.complete', held, 'writes', ({ jobs }) => jobs.finish(queue, { id, token, text, now }));
          return now;
        },
        giveBack: () => ask('job.putBack', [...held, wait], 'writes', ({ jobs }) => jobs.putBack(queue, { id, token })),
        snooze(delayMs) {
          const delayed = { id, token, now: time.now(), delayMs };
          return ask('job.delay', [...held, wait], 'writes', ({ jobs }) => jobs.delay(queue, delayed));
        },
        setProgress: (reached) =>
          ask('job.progress', held, 'writes', ({ jobs }) => jobs.setProgress(queue, id, JSON.stringify(reached))),
        replaceData: (data) =>
          ask('job.data', [keyOf(id)], 'writes', ({ jobs }) => jobs.setData(queue, id, JSON.stringify(data))),
      },
      {
        records,
        news: {
          ending: publicationOf,
          publish: (ended) => publish(ask, publicationOf(ended)),
          changed: (one) => publish(ask, { replyTo: undefined, message: '', followers: followersOf(queue, one) }),
        },
        isOver: () => closing || lost.has(id),
        isLost: (error) => error instanceof Refused,
        onError,
      },
    );
  }

  function publicationOf({ id, data, value }: { id: string; data: unknown; value: unknown }): Publication {
    const { replyTo } = addressedSchema.parse(data);
    return { replyTo, message: `ended ${id} ${JSON.stringify(value)}`, followers: followersOf(queue, id) };
  }

  async function closeOnce(): Promise<void> {
    closing = true;
    idle.end();
    if (open === 0 && !filling) ended.resolve();
    if (running) await ended.promise;
    locks.stop();
    stalled.stop();
  }
  let closed: Promise<void> | undefined;

  return {
    run(): void {
      paused = false;
      if (closing) return;
      running = true;
      stalled.start();
      void fill();
    },
    async pause(): Promise<void> {
      paused = true;
      stalled.stop();
    },
    close: () => (closed ??= closeOnce()),
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

type LockOptions = {
  queue: string;
  lockMs: number;
  ask: AskStore;
  onLost: (ids: string[]) => void;
  onError: (error: unknown) => void;
  isClosed: () => boolean;
};

/**
 * Renews the locks of the jobs a worker has, each half of their time. As in BullMQ they are known by the id alone: of a job that came back to
 * the worker that still has it, the end of one ends the renewal of both.
 */
function createLockManager({ queue, lockMs, ask, onLost, onError, isClosed }: LockOptions) {
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
      if (lost.length > 0) onLost(lost);
    } catch (error) {
      onError(error);
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

import { AsyncLocalStorage } from 'node:async_hooks';
import { ReplyError } from 'ioredis';
import { parseJson } from '../../../src/shared/contract/json/parse-json.ts';
import { random } from '../../../src/shared/ports/process.ts';
import { time } from '../../../src/shared/ports/time.ts';
import { createFollowers, replyToOf } from '../../../src/shared/queue/followers.ts';
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
import { every } from '../../../src/shared/runtime/upkeep.ts';
import {
  type HistoryLimits,
  type HistoryPart,
  openHistory,
  type PartName,
  type Publication,
} from '../../../src/shared/store/history/history.ts';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import type { Gate } from './gate.ts';
import {
  type Connection,
  channels,
  type Published,
  Refused,
  type SimulatedStore,
  type StoredJob,
  type Stores,
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
const [CHECKS_PER_LOCK, RENEWALS_PER_LOCK] = [5, 4];
const REPLY_MS = 2000;
/** A worker tries again so long after its connection broke; a process connects again so long after it noticed. */
const [RETRY_MS, RECONNECT_MS] = [500, 100];
const [YOUNGEST_MISSING_MS, OLDEST_MISSING_MS] = [10_000, 90_000];

/** One step through the gate. `on`: what it is about, for who reads a trace. */
type AskStore = <T>(name: string, on: string, act: (store: SimulatedStore) => T | Promise<T>) => Promise<T>;

/** The queue store as one simulated process sees it: each command is one step through the gate. */
export function createSimulatedBackend(options: SimulatedBackendOptions): SimulatedBackend {
  const { process, gate, lockMs = LOCK_MS } = options;
  let replies = 0;
  const ask: AskStore = <T>(name: string, on: string, act: (store: SimulatedStore) => T | Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      gate({ process, port: 'queue', name, on: [on], writes: true }, act).then(resolve, reject);
    }).finally(() => replies++);
  const link = createLink(options, ask);
  const store = steps(ask, 'store', ({ keys }: Stores) => keys, KEYS);

  const members: SimulatedBackend = {
    where: `simulated, as ${process} sees it`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected: link.connected,
    examined: link.connected.then(() => undefined),
    probe: () => ask('probe', process, () => {}),
    full: () => null,
    lastActivity: () => replies,
    run: { last: link.lastRun, ask: () => ask('run', 'run', (store) => store.runId()) },
    workers: {
      report: (id, report) => ask('workers.report', id, ({ workers }) => workers.report(id, report)),
      withdraw: (id) => ask('workers.withdraw', id, ({ workers }) => workers.withdraw(id)),
      read: () => ask('workers.read', 'workers', ({ workers }) => workers.read()),
    },
    directory: createMemoryDirectory(), // no worker of a simulated world meets another directory
    store,
    openIdempotencyRecords: (maxBytes) => steps(ask, 'records', ({ records }) => records(maxBytes), RECORDS),
    openTrees: () => {
      const { hold, get } = steps(ask, 'trees', ({ trees }: Stores) => trees, KEYS);
      return { keep: async (key, tree, seconds) => void (await hold(key, tree, seconds)), get };
    },
    openHistory: (limits, options) =>
      openHistory({ open: (part, own) => openPart(ask, part, own), store, pinnedTrees: store, limits, ...options }),
    openBatches: (limits) => steps(ask, 'batches', ({ batches }) => batches(limits), BATCHES),
    isShared: true,
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
      await ask('connect', 'run', (store) => {
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
      await ask('subscribe', channel, () => connection?.subscribe(channel));
    },
    async forget(channel: string): Promise<void> {
      listeners.delete(channel);
      await ask('unsubscribe', channel, () => connection?.unsubscribe(channel)).catch(() => {});
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
    const read = await ask('events.read', channel, ({ events }) => events.after(name, seen));
    for (const { id, fields } of read) tell(id, fields);
  };
  const begin = async () => {
    if (!fromStart) seen = await ask('events.last', channel, ({ events }) => events.last());
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
      ask('events.publish', name, ({ events }) => events.publish(name, JSON.stringify(message), maxKept)),
    close: async () => {},
  };
}

const KEYS = ['setIfAbsent', 'hold', 'get', 'remove'] as const;
const RECORDS = ['put', 'get', 'change', 'answer', 'erase', 'due'] as const;
const BATCHES = [
  ...(['create', 'read', 'list', 'running', 'cases', 'begin', 'settle', 'heads', 'detail', 'erase', 'change'] as const),
  ...(['acquire', 'renew', 'release', 'bytes'] as const),
];
const HISTORY = [
  'get',
  'result',
  'delivered',
  'input',
  'addLateResult',
  'lateResult',
  'list',
  'kept',
  'erase',
] as const;

/** The methods of a store, each of which is one step through the gate. */
function steps<Store extends object, Name extends keyof Store & string>(
  ask: AskStore,
  name: string,
  storeOf: (stores: Stores) => Store,
  methods: readonly Name[],
): Pick<Store, Name> {
  const stepOf = (method: Name) => {
    const call = (own: Stores, given: unknown[]) => Reflect.apply(storeOf(own)[method] as () => unknown, null, given);
    return (...given: unknown[]) =>
      ask(`${name}.${method}`, String(given[0] ?? ''), ({ inStores }) => inStores((own) => call(own, given)));
  };
  return Object.fromEntries(methods.map((method) => [method, stepOf(method)])) as Pick<Store, Name>;
}

function openPart(ask: AskStore, part: PartName, limits: HistoryLimits): HistoryPart {
  return {
    ...steps(ask, 'history', ({ history }) => history(part, limits), HISTORY),
    add: (settled, publication) =>
      ask('history.add', settled.record.mockId, async ({ inStores, publish }) => {
        await inStores(({ history }) => history(part, limits).add(settled));
        if (publication) publish(publication);
      }),
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
  if (onDisconnect) link.onLost(onDisconnect);
  return {
    name,
    async add(id, data, { head } = {}) {
      const added = { id, data: JSON.stringify(data), head: head ?? null, timestamp: time.now() };
      await ask('job.add', id, ({ jobs }) => jobs.add(name, added));
    },
    async lookUp(id) {
      const found = await ask('job.lookUp', id, ({ jobs }) => jobs.get(name, id));
      if (!found) return { kind: 'missing' };
      return found.finishedOn === null ? { kind: 'open' } : { kind: 'ended', value: jobOf(found).value };
    },
    read: async (id) => wholeJob(await ask('job.get', id, ({ jobs }) => jobs.get(name, id))),
    readShort: async (ids) =>
      (await ask('job.readShort', ids.join(' '), ({ jobs }) => ids.map((id) => jobs.get(name, id)))).map(shortJob),
    listOpen: () => ask('job.ids', name, ({ jobs }) => jobs.open(name)),
    count: () => ask('job.counts', name, ({ jobs }) => jobs.counts(name)),
    removeWaiting: (id) => ask('job.removeWaiting', id, ({ jobs }) => jobs.removeWaiting(name, id)),
    erase: async (id) => void (await ask('job.remove', id, ({ jobs }) => jobs.remove(name, id))),
    async removeOld(olderThanMs) {
      const before = time.now() - olderThanMs;
      await ask('job.clean', name, ({ jobs }) => jobs.clean(name, before));
    },
    // Without the turn of several APIs, and for a history that has room.
    missingRecords() {
      const now = time.now();
      return ask('history.missing', name, ({ jobs }) =>
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
  return ask('publish', publication.followers, (store) => store.publish(publication)).catch(() => {});
}

type WorkerParts = Omit<SimulatedBackendOptions, 'onMessage' | 'gate'> & WorkerOptions & { ask: AskStore };

type Held = { job: StoredJob; token: string; renewedAt: number; isLost: boolean };

/** A worker that takes jobs from the store as `bull-worker` does: what is refused to it is repeated by the same code. */
function openWorker(
  queue: string,
  work: (job: TakenJob) => Promise<unknown>,
  options: WorkerParts & { lockMs: number },
): QueueWorker {
  const { process, ask, concurrency, lockMs, onStalled, onLost, onDefect, onError = () => {} } = options;
  const id = `${process}.${random.uuid()}`;
  const held = new Map<string, Held>();
  const working = new Set<Promise<void>>();
  const renewMs = lockMs / RENEWALS_PER_LOCK;
  const checkMs = lockMs / CHECKS_PER_LOCK;
  const upkeep = [every(renewMs, renew, onError), every(checkMs, takeOver, onError, 0)];
  let [isOn, isClosing, tokens] = [false, false, 0];
  let bell = new AbortController();
  let fetching: Promise<void> | undefined;

  /** There may be a job, or room for one. */
  const ring = () => bell.abort();

  async function fetchOne(): Promise<void> {
    bell = new AbortController();
    const token = `${id}:${tokens++}`;
    const taking = { token, lockMs, now: time.now(), waiter: ring };
    const taken =
      held.size < concurrency ? await ask('take', queue, ({ jobs }) => jobs.take(queue, taking)) : undefined;
    if (taken?.job) return begin(taken.job, token);
    const dueInMs = (taken?.delayUntil ?? Number.POSITIVE_INFINITY) - time.now();
    if (isOn) await time.pause(Math.min(DRAIN_MS, dueInMs), bell.signal);
  }

  async function fetchAll(): Promise<void> {
    while (isOn)
      await fetchOne().catch((error) => {
        onError(error);
        return time.pause(RETRY_MS);
      });
  }

  function begin(job: StoredJob, token: string): void {
    const own: Held = { job, token, renewedAt: time.monotonic(), isLost: false };
    held.set(job.id, own);
    const taken = takenJob(queue, own, { ...options, isOver: () => isClosing || own.isLost });
    const done = work(taken)
      .catch((error) => {
        onDefect?.(job.id, error);
        return taken.finish(null);
      })
      .then(() => {
        working.delete(done);
        if (held.get(job.id) === own) held.delete(job.id);
        ring();
      });
    working.add(done);
  }

  async function renew(): Promise<void> {
    const now = time.monotonic();
    const due = [...held.values()].filter(({ renewedAt }) => renewedAt + renewMs <= now);
    if (due.length === 0) return;
    for (const own of due) own.renewedAt = now;
    const locks = due.map(({ job, token }) => ({ id: job.id, token }));
    const refused = new Set(await ask('job.renew', queue, ({ jobs }) => jobs.renew(queue, locks, lockMs)));
    const lost = due.filter((own) => refused.has(own.job.id) && held.get(own.job.id) === own);
    for (const own of lost) own.isLost = true;
    if (lost.length > 0) onLost?.(lost.map(({ job }) => job.id));
  }

  async function takeOver(): Promise<void> {
    if (!isOn) return;
    for (const stalled of await ask('job.stalled', queue, ({ jobs }) => jobs.checkStalled(queue, checkMs)))
      onStalled?.(stalled);
  }

  function run(): void {
    isOn = !isClosing;
    fetching ??= fetchAll().finally(() => {
      fetching = undefined;
      if (isOn) run();
    });
  }

  return {
    run,
    async pause() {
      isOn = false;
      ring();
    },
    async close() {
      [isOn, isClosing] = [false, true];
      ring();
      await fetching;
      await Promise.all(working);
      await Promise.all(upkeep.map(({ stop }) => stop()));
    },
  };
}

function takenJob(
  queue: string,
  { job, token }: Held,
  { ask, records, isOver, onError = () => {} }: WorkerParts & { isOver: () => boolean },
): TakenJob {
  const { id, timestamp: addedAt, attemptsStarted } = job;
  const own = {
    ...{ id, data: JSON.parse(job.data), addedAt, progress: jobOf(job).progress },
    isFirstDelivery: attemptsStarted <= 1,
  };
  const publicationOf = (ended: { id: string; data: unknown; value: unknown }): Publication => ({
    replyTo: replyToOf(ended.data),
    message: `ended ${ended.id} ${JSON.stringify(ended.value)}`,
    followers: followersOf(queue, ended.id),
  });
  return openTakenJob(
    own,
    {
      async complete(value) {
        const now = time.now();
        const text = JSON.stringify(value);
        await ask('job.complete', id, ({ jobs }) => jobs.finish(queue, { id, token, text, now }));
        return now;
      },
      giveBack: () => ask('job.putBack', id, ({ jobs }) => jobs.putBack(queue, { id, token })),
      snooze(delayMs) {
        const delayed = { id, token, now: time.now(), delayMs };
        return ask('job.delay', id, ({ jobs }) => jobs.delay(queue, delayed));
      },
      setProgress: (reached) =>
        ask('job.progress', id, ({ jobs }) => jobs.setProgress(queue, id, JSON.stringify(reached))),
      replaceData: (data) => ask('job.data', id, ({ jobs }) => jobs.setData(queue, id, JSON.stringify(data))),
    },
    {
      records,
      news: {
        ending: publicationOf,
        publish: (ended) => publish(ask, publicationOf(ended)),
        changed: (one) => publish(ask, { replyTo: undefined, message: '', followers: followersOf(queue, one) }),
      },
      isOver,
      isLost: (error) => error instanceof Refused,
      onError,
    },
  );
}

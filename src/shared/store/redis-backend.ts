import { type BackendFactory, createRedisBackend, type IQueueBackend, type Telemetry } from 'bullmq';
import { Redis } from 'ioredis';
import { redisEraseJob } from './erase-job.ts';
import { redisShortJobs } from './job-heads.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openersOf, removeFinished } from './queue-openers.ts';
import { createRedisConnections, type RedisConnections } from './redis-connections.ts';
import { openRedisReplies, tellChange, tellEndings } from './redis-replies.ts';
import { redisScript } from './redis-script.ts';
import { redisStores } from './redis-stores.ts';
import { replyWithin } from './reply-within.ts';
import { createRedisTakers, type Takers } from './takers.ts';

/** One hash tag keeps all keys in one slot of a Redis Cluster. */
const PREFIX = '{rule-server}';
/** At 1,000 calls/s they bridge 4 s for an API of a version that reads them. */
const MAX_EVENTS = 20_000;
/** By their connections an API sees which workers tell how jobs ended: those of earlier versions have no name. */
const TELLING_WORKER = 'tells-endings';
const REPLY_MS = 700;

/** BullMQ's own removal takes any job that is not locked: also one that has run, or whose worker fell asleep. */
const removeWaiting = redisScript(`
local wait, job, events, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
if tonumber(redis.call('HGET', job, 'ats') or '0') > 0 then return 0 end
if redis.call('LREM', wait, 1, id) == 0 then return 0 end
redis.call('DEL', job)
redis.call('XADD', events, 'MAXLEN', '~', ARGV[2], '*', 'event', 'removed', 'jobId', id, 'prev', 'wait')
return 1
`);

const retryStrategy = (attempt: number) => Math.min(100 * attempt, 500);

/** The queue store behind a redis:// URL. */
export function openRedis(url: string, telemetry: Telemetry | undefined): QueueBackend {
  const connections = createRedisConnections();
  const { reconnectOnError } = connections;
  const { fast, patient } = optionsFor(url, reconnectOnError);
  const results = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 5000,
    retryStrategy,
    reconnectOnError,
  });
  connections.keep(results);
  const takers = createRedisTakers(results);
  results.on('error', () => {}); // the queue's own connection reports the same fault
  const connected = new Promise<void>((resolve) => void results.once('ready', () => resolve()));

  return {
    where: `redis, ${withoutCredentials(url)}`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected,
    probe: () => connections.probe(results),
    takers,
    ...redisStores(results),
    ...openersOf({
      quick: factoryOf(fast, connections),
      blocking: factoryOf(patient, connections),
      common: { prefix: PREFIX, ...(telemetry && { telemetry }) },
      maxEvents: MAX_EVENTS,
      eventsBlockMs: 10_000,
      // A dead worker's executions are taken over within lock + two checks: 5 to 7 s.
      locks: { lockDuration: 5000, stalledInterval: 1000 },
      workerName: TELLING_WORKER,
    }),
    readShortJobs: redisShortJobs(results),
    eraseJob: redisEraseJob(results),
    openReplies: (queue, listener) =>
      openRedisReplies(
        url,
        { maxRetriesPerRequest: null, retryStrategy, keep: connections.keep },
        (id) => queue.toKey(id),
        listener,
      ),
    tellChange: (queue, id, replyTo) => tellChange(results, queue.toKey(id), id, replyTo),
    async removeWaiting(queue, id) {
      const keys = [queue.toKey('wait'), queue.toKey(id), queue.toKey('events')];
      return (await removeWaiting(results, keys, [id, MAX_EVENTS])) === 1;
    },
    async removeOld(queue, olderThanMs) {
      await removeFinished(queue, olderThanMs);
      await results.xtrim(queue.toKey('events'), 'MINID', Date.now() - olderThanMs);
    },
    onDisconnect: (queue, listener) => void queue.on('ioredis:close', listener),
    seesWorkers: true,
    findWorkers: (queue, except) => findWorkers(queue, { database: results.options.db ?? 0, takers, except }),
    close: async () => results.disconnect(),
  };
}

type ConnectionOptions = ReturnType<typeof optionsFor>['fast' | 'patient'];

function optionsFor(url: string, reconnectOnError: RedisConnections['reconnectOnError']) {
  return {
    // A command of these connections fails fast, and none may be part of opening one: it would stay broken for good.
    fast: {
      url,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 3000,
      skipVersionCheck: true,
      retryStrategy,
      reconnectOnError,
    },
    // A command that blocks by design must neither time out nor give up.
    patient: { url, maxRetriesPerRequest: null, retryStrategy, reconnectOnError },
  };
}

function factoryOf(connection: ConnectionOptions, { keep }: RedisConnections): BackendFactory<IQueueBackend, unknown> {
  return (name, options, more) => {
    const backend = createRedisBackend(name, { ...options, connection }, more);
    tellEndings(backend);
    // Once BullMQ closes it, it listens no more; the connection would print its errors until the process ends.
    for (const client of [backend.client, backend.blockingClient]) {
      client?.then(
        (opened) => {
          opened.on('error', () => {});
          keep(opened);
        },
        () => {},
      );
    }
    return backend;
  };
}

type Asked = { database: number; takers: Takers; except: string | undefined };

/** The connection of a worker carries its id. Redis lists those of all its databases; a deployment in another one has the same names. */
async function findWorkers(
  queue: Parameters<QueueBackend['findWorkers']>[0],
  { database, takers, except }: Asked,
): ReturnType<QueueBackend['findWorkers']> {
  const [connected, taking] = await Promise.all([queue.getWorkers(), takers.list()]);
  const counted = new Set(taking.filter((id) => id !== except));
  const here = connected.filter(({ db }) => db === undefined || Number(db) === database);
  const names = here.map(({ rawname }) => rawname?.split(':w:')[1]);
  const allTell = names.every((name) => name?.startsWith(TELLING_WORKER));
  // A Redis that lists no connections says so in the name of a single one.
  if (here.some(({ rawname }) => rawname === undefined)) return { count: counted.size, allTell };
  const ids = names.map((name) => name?.split('.')[1]);
  return { count: ids.filter((id) => id === undefined || counted.has(id)).length, allTell };
}

function withoutCredentials(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

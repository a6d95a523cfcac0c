import { type BackendFactory, createRedisBackend, type IQueueBackend, type Telemetry } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { replyWithin } from '../../runtime/at-most.ts';
import { DEFAULT_PREFIX, type RedisAddress } from '../../runtime/settings/redis-address.ts';
import { describeRedis } from '../../runtime/settings/redis-url.ts';
import { time } from '../../seams/time.ts';
import { createRedisConnections, type RedisConnections } from '../redis/redis-connections.ts';
import { isReplica, runIdOf } from '../redis/redis-examination.ts';
import { redisScript } from '../redis/redis-script.ts';
import { redisStores } from '../redis/redis-stores.ts';
import { createRedisDirectory } from '../registered-directory.ts';
import { openRedisReplies, tellChange, tellEndings } from '../replies/redis-replies.ts';
import { wasRefused } from '../store-error.ts';
import { createRedisArrivals } from './arrivals.ts';
import { redisShortJobs } from './job-heads.ts';
import type { EraseJob, QueueBackend } from './queue-backend.ts';
import { openersOf, removeFinished } from './queue-openers.ts';
import { createRedisTakers, type Takers } from './takers.ts';

/** At 1,000 calls/s they bridge 4 s for an API of a version that reads them. */
const MAX_EVENTS = 20_000;
/** The connections of workers have this name, and behind it the id of the worker. */
const WORKER_NAME = 'tells-endings';
/** A last look takes no longer. */
const REPLY_MS = 2000;
/** A connection on which nothing comes for so long, though something was asked, is made anew. */
const DEAD_AFTER_MS = 15_000;

/** BullMQ's own removal takes any job that is not locked: also one that has run, or whose worker fell asleep. */
const removeWaiting = redisScript(`
local wait, job, events, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
if tonumber(redis.call('HGET', job, 'ats') or '0') > 0 then return 0 end
if redis.call('LREM', wait, 1, id) == 0 then return 0 end
redis.call('DEL', job)
redis.call('XADD', events, 'MAXLEN', '~', ARGV[2], '*', 'event', 'removed', 'jobId', id, 'prev', 'wait')
return 1
`);

/** A command of such a connection fails fast. */
const FAST = { enableOfflineQueue: false, maxRetriesPerRequest: 0 } as const;
/** A command that blocks by design must neither time out nor give up. */
const PATIENT = { maxRetriesPerRequest: null } as const;

/** The queue store behind a redis:// URL. */
export function openRedis(address: RedisAddress, telemetry: Telemetry | undefined): QueueBackend {
  const { prefix } = address;
  const connections = createRedisConnections(address);
  const results = connections.open({ ...FAST, commandTimeout: 5000 });
  const opened = [results];
  const takers = createRedisTakers(results, prefix);
  const connected = new Promise<void>((resolve) => void results.once('ready', () => resolve()));
  const examined = examineAtEachStart(results, connections);

  function openNoted(): Redis {
    const redis = connections.open({ ...FAST, socketTimeout: DEAD_AFTER_MS });
    opened.push(redis);
    return redis;
  }

  return {
    where: `redis, ${describeRedis(address)}${prefix === DEFAULT_PREFIX ? '' : `, prefix ${prefix}`}`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected,
    examined,
    probe: () => connections.probe(results),
    full: () => null, // a full Redis says so itself: the probe hears it
    heard: connections.heard,
    run: { last: connections.lastRun, ask: () => runIdOf(results) },
    takers,
    tellArrivals: createRedisArrivals(results, prefix),
    directory: createRedisDirectory(results, prefix),
    ...redisStores(results, { prefix, openNoted }),
    ...redisOpeners(connections, prefix, telemetry),
    readShortJobs: redisShortJobs(results),
    eraseJob: redisEraseJob(results),
    openReplies: (queue, listener) =>
      openRedisReplies({ open: connections.open, prefix, keyOf: (id) => queue.toKey(id) }, listener),
    tellChange: (queue, id, replyTo) => tellChange(results, { prefix, jobKey: queue.toKey(id), id, replyTo }),
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
    findWorkers: (queue, except) => findWorkers(queue, { database: address.database, takers, except }),
    async close() {
      for (const connection of opened) connection.disconnect();
      connections.close();
    },
  };
}

function redisOpeners(connections: RedisConnections, prefix: string, telemetry: Telemetry | undefined) {
  // Opening a connection must not wait for one of its own commands: if that failed, it would stay broken for good. A reply that takes
  // its time is waited for: a busy store is not away.
  const quick = { ...connections.options, ...FAST, socketTimeout: DEAD_AFTER_MS, skipVersionCheck: true } as const;
  return openersOf({
    quick: factoryOf(quick, prefix, connections),
    blocking: factoryOf({ ...connections.options, ...PATIENT }, prefix, connections),
    common: { prefix, ...(telemetry && { telemetry }) },
    maxEvents: MAX_EVENTS,
    eventsBlockMs: 10_000,
    // A dead worker's executions are taken over within lock + two checks: 5 to 7 s.
    lockMs: 5000,
    workerName: WORKER_NAME,
  });
}

/** The errors of Sentinels and of nodes of a Cluster that a wrong setting causes. */
const NEVER_FOUND =
  /^no master was found: .*(know no master named|cluster support disabled|NOAUTH|WRONGPASS|unknown command)/i;

const REPLICA =
  'it is a replica, which takes no writes: let REDIS_URL lead to the master, or to Sentinels that know it';

/** Resolves to why this Redis can never serve, if so, once it was looked at for the first time. */
function examineAtEachStart(redis: Redis, { examine }: RedisConnections): Promise<string | undefined> {
  return new Promise((resolve) => {
    redis.on('ready', async () => {
      const refusal = await examine(redis);
      resolve(refusal ?? ((await isReplica(redis)) ? REPLICA : undefined));
    });
    redis.on('error', ({ message }) => {
      if (NEVER_FOUND.test(message)) resolve(message);
    });
  });
}

type BlockingOptions = RedisConnections['options'] & {
  maxRetriesPerRequest: number | null;
  socketTimeout?: number;
  skipVersionCheck?: true;
};

function factoryOf(
  connection: BlockingOptions,
  prefix: string,
  { keep }: RedisConnections,
): BackendFactory<IQueueBackend, unknown> {
  return (name, options, more) => {
    const backend = createRedisBackend(name, { ...options, connection }, more);
    tellEndings(backend, prefix);
    repeatRefused(backend, connection.maxRetriesPerRequest === null);
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

/**
 * The connection of a worker carries its id. Redis lists those of all its databases; a deployment in another one has the same
 * names.
 */
async function findWorkers(
  queue: Parameters<QueueBackend['findWorkers']>[0],
  { database, takers, except }: Asked,
): ReturnType<QueueBackend['findWorkers']> {
  const [connected, taking] = await Promise.all([queue.getWorkers(), takers.list()]);
  const counted = new Set(taking.filter((id) => id !== except));
  const here = connected.filter(({ db }) => db === undefined || Number(db) === database);
  // A Redis that lists no connections says so in the name of a single one.
  if (here.some(({ rawname }) => rawname === undefined)) return counted.size;
  const ids = here.map(({ rawname }) => rawname?.split(':w:')[1]?.split('.')[1]);
  return ids.filter((id) => id !== undefined && counted.has(id)).length;
}

const AT_ONCE = 500;

/** Removes the events of one job from a part of the stream, and says where the next part begins. */
const eraseEvents = redisScript(`
local events, id, from, count = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local entries = redis.call('XRANGE', events, from, '+', 'COUNT', count)
for _, entry in ipairs(entries) do
  local fields = entry[2]
  for at = 1, #fields, 2 do
    if fields[at] == 'jobId' and fields[at + 1] == id then redis.call('XDEL', events, entry[1]) end
  end
end
if #entries < count then return '' end
return '(' .. entries[#entries][1]
`);

function redisEraseJob(redis: Redis): EraseJob {
  return async (queue, mockId) => {
    await queue.remove(mockId, { removeChildren: false });
    for (let from = '-'; from !== ''; )
      from = z.string().parse(await eraseEvents(redis, [queue.toKey('events')], [mockId, from, AT_ONCE]));
  };
}

const AGAIN_AFTER_MS = 100;
/** As long as a worker keeps its locks without renewing them. */
const GIVES_UP_AFTER_MS = 5000;
/** Redis did nothing, and will do it elsewhere or soon: its role or its slots are just changing. */
const PASSING = /^(READONLY|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|LOADING|NOREPLICAS)\b/;

/**
 * Makes a worker send a command again that Redis refused while a fail-over or the move of a slot is under way. BullMQ would
 * take it for the end of its job: an answer that is there would wait until the lock lapses and another worker finds it.
 */
function repeatRefused(backend: ReturnType<typeof createRedisBackend>, isPatient: boolean): void {
  if (!isPatient) return;
  const execute = backend.execCommand.bind(backend);
  backend.execCommand = async (client, name, parameters) => {
    const until = time.monotonic() + GIVES_UP_AFTER_MS;
    for (;;) {
      try {
        return await execute(client, name, parameters);
      } catch (error) {
        if (!isPassing(error) || time.monotonic() > until) throw error;
        await time.pause(AGAIN_AFTER_MS);
      }
    }
  };
}

function isPassing(error: unknown): boolean {
  return error instanceof Error && wasRefused(error) && PASSING.test(error.message);
}

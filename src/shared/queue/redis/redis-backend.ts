import {
  type BackendFactory,
  createRedisBackend,
  type IQueueBackend,
  QueueEvents,
  type QueueEventsListener,
  QueueEventsProducer,
  type Telemetry,
} from 'bullmq';
import type { Redis } from 'ioredis';
import { replyWithin } from '../../runtime/async.ts';
import { DEFAULT_PREFIX, type RedisAddress } from '../../runtime/settings/redis-address.ts';
import { describeRedis } from '../../runtime/settings/redis-url.ts';
import { createRedisConnections, type RedisConnections } from '../../store/redis/redis-connections.ts';
import { isReplica, runIdOf } from '../../store/redis/redis-examination.ts';
import { redisStores } from '../../store/redis/redis-stores.ts';
import { createRedisDirectory } from '../../store/registered-directory.ts';
import type { Message, QueueBackend } from '../queue-backend.ts';
import { createRedisWorkerRegistry } from '../worker-registry.ts';
import { besideBullmq } from './beside-bullmq.ts';
import { type BullQueueParts, openBullQueue } from './bull-queue.ts';
import { type BullWorkerParts, openBullWorker } from './bull-worker.ts';
import { createPublisher, DEAD_AFTER_MS, openRedisReplies } from './redis-replies.ts';

/** At 1,000 calls/s they bridge 4 s for an API of a version that reads them. */
const MAX_EVENTS = 20_000;
/** A dead worker's executions are taken over within lock + two checks: 5 to 7 s. */
const LOCK_MS = 5000;
/** A last look takes no longer. */
const REPLY_MS = 2000;

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
  const connected = new Promise<void>((resolve) => void results.once('ready', () => resolve()));
  const examined = examineAtEachStart(results, connections);

  function openForRecords(): Redis {
    const redis = connections.open({ ...FAST, socketTimeout: DEAD_AFTER_MS });
    opened.push(redis);
    return redis;
  }

  const { queues, workers, factory, blocking } = bullParts(results, { connections, prefix, telemetry });

  return {
    where: `redis, ${describeRedis(address)}${prefix === DEFAULT_PREFIX ? '' : `, prefix ${prefix}`}`,
    inTime: (reply) => replyWithin(REPLY_MS, reply),
    connected,
    examined,
    probe: () => connections.probe(results),
    full: () => null, // a full Redis says so itself: the probe hears it
    lastActivity: connections.lastActivity,
    run: { last: connections.lastRun, ask: () => runIdOf(results) },
    workers: createRedisWorkerRegistry(results, prefix),
    directory: createRedisDirectory(results, prefix),
    ...redisStores(results, { prefix, openForRecords }),
    openQueue: (name, options) => openBullQueue(name, queues, options),
    openWorker: (name, process, options) => openBullWorker(name, process, workers, options),
    isShared: true,
    ...messages({ factory, blocking, prefix }),
    async close() {
      for (const connection of opened) connection.disconnect();
      connections.close();
    },
  };
}

type Keyed = { toKey(part: string): string };
type BullOptions = { connections: RedisConnections; prefix: string; telemetry: Telemetry | undefined };

/** What queues and workers of BullMQ are opened with. */
function bullParts(results: Redis, { connections, prefix, telemetry }: BullOptions) {
  // A reply that takes its time is waited for: a busy store is not away. Opening a connection must not wait for one of its own commands: if
  // that failed, it would stay broken for good.
  const quick = { ...connections.options, ...FAST, socketTimeout: DEAD_AFTER_MS, skipVersionCheck: true } as const;
  const factory = factoryOf(quick, connections);
  const blocking = factoryOf({ ...connections.options, ...PATIENT }, connections);
  const common = { prefix, ...(telemetry && { telemetry }) };
  const keyOf = (queue: Keyed) => (id: string) => queue.toKey(id);
  const publisherOf = (queue: Keyed) => createPublisher(results, { prefix, keyOf: keyOf(queue) });
  const { open } = connections;
  const queues: BullQueueParts = {
    ...{ factory, common, maxEvents: MAX_EVENTS },
    beside: (queue) => besideBullmq(results, queue, { prefix, maxEvents: MAX_EVENTS }),
    openReplies: (queue, listener) => openRedisReplies({ open, prefix, keyOf: keyOf(queue) }, listener),
    tellChange: (queue, id, replyTo) => publisherOf(queue).change(id, replyTo),
  };
  const workers: BullWorkerParts = {
    ...{ factory: blocking, common, lockMs: LOCK_MS },
    news(worker) {
      const { ending, publish, change } = publisherOf(worker);
      return { ending, publish: (ended) => publish(ending(ended)), changed: change };
    },
  };
  return { queues, workers, factory, blocking };
}

type Factory = BackendFactory<IQueueBackend, unknown>;

interface MessageListener extends QueueEventsListener {
  message: (message: unknown, id: string) => void;
}

/** Messages to all, in the stream of a queue that has no jobs. Their faults are reported by the queues' own connections. */
function messages({
  factory,
  blocking,
  prefix,
}: {
  factory: Factory;
  blocking: Factory;
  prefix: string;
}): Pick<QueueBackend, 'openSender' | 'listen'> {
  return {
    openSender(name, maxKept) {
      const producer = new QueueEventsProducer(name, { prefix, connection: undefined }, factory);
      producer.on('error', () => {});
      return {
        send: (message: Message) => producer.publishEvent({ eventName: 'message', ...message }, maxKept),
        close: () => producer.close(),
      };
    },
    listen(name, onMessage, { fromStart = false } = {}) {
      const from = fromStart && { lastEventId: '0' };
      const events = new QueueEvents(name, { prefix, connection: undefined, ...from }, blocking);
      events.on('error', () => {});
      events.on<MessageListener, 'message'>('message', onMessage);
      return { close: () => events.close() };
    },
  };
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

function factoryOf(connection: BlockingOptions, { keep }: RedisConnections): Factory {
  return (name, options, more) => {
    const backend = createRedisBackend(name, { ...options, connection }, more);
    const close = backend.close.bind(backend);
    // BullMQ closes with a command to Redis. Where Redis is away that fails, and the connection would go on reconnecting.
    backend.close = (force) => close(force).catch(() => void backend.disconnect().catch(() => {}));
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

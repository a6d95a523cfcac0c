import type { Redis } from 'ioredis';
import { z } from 'zod';
import { redisScript } from '../redis/redis-script.ts';

/**
 * How much a worker has to do. `busy`: executions it has that wait neither for their client nor for a slot there. `begun`: how many it has
 * sent to a client or refused since it started.
 */
export type WorkerLoad = { busy: number; begun: number };

/** The workers that take jobs. Each says so every second, and a worker that has not said it for a while does not count. */
export type Takers = {
  tell(workerId: string): Promise<void>;
  tellLoad(workerId: string, load: WorkerLoad): Promise<void>;
  withdraw(workerId: string): Promise<void>;
  /** The ids of those that take jobs now. */
  list(): Promise<string[]>;
  /** The last reported load of each worker, by its id. */
  loads(): Promise<Map<string, WorkerLoad>>;
};

/** As long as the locks of a worker that died or froze. */
const COUNTS_FOR_MS = 5000;

/** By the clock of Redis: those of the workers may differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
const tell = redisScript(`${NOW}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);
const list = redisScript(`${NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')
`);
const tellLoad = redisScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);
const loads = redisScript(`${NOW}
local told = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')) do
  local load = redis.call('HGET', KEYS[2], id)
  if load then
    told[#told + 1] = { id, load }
  end
end
return told
`);
const idsSchema = z.array(z.string());
const loadSchema = z.object({ busy: z.int(), begun: z.int() });
const loadsSchema = z.array(z.tuple([z.string(), z.string().transform((text) => loadSchema.parse(JSON.parse(text)))]));

export function createRedisTakers(redis: Redis, prefix: string): Takers {
  const key = `${prefix}:workers`;
  const loadsKey = `${prefix}:loads`;
  return {
    tell: async (workerId) => void (await tell(redis, [key], [workerId, COUNTS_FOR_MS])),
    tellLoad: async (workerId, load) =>
      void (await tellLoad(redis, [loadsKey], [workerId, JSON.stringify(load), COUNTS_FOR_MS])),
    async withdraw(workerId) {
      await Promise.all([redis.zrem(key, workerId), redis.hdel(loadsKey, workerId)]);
    },
    list: async () => idsSchema.parse(await list(redis, [key], [COUNTS_FOR_MS])),
    loads: async () => new Map(loadsSchema.parse(await loads(redis, [key, loadsKey], [COUNTS_FOR_MS]))),
  };
}

/** The same for the workers of this process. */
export function createMemoryTakers(): Takers {
  const ids = new Set<string>();
  const told = new Map<string, WorkerLoad>();
  return {
    tell: async (workerId) => void ids.add(workerId),
    tellLoad: async (workerId, load) => void told.set(workerId, load),
    async withdraw(workerId) {
      ids.delete(workerId);
      told.delete(workerId);
    },
    list: async () => [...ids],
    loads: async () => new Map([...told].filter(([id]) => ids.has(id))),
  };
}

import type { Redis } from 'ioredis';
import { z } from 'zod';
import { redisScript } from './redis-script.ts';

/** The workers that take jobs. Each says so every second, and a worker that has not said it for a while does not count. */
export type Takers = {
  tell(workerId: string): Promise<void>;
  withdraw(workerId: string): Promise<void>;
  /** The ids of those that take jobs now. */
  list(): Promise<string[]>;
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
const idsSchema = z.array(z.string());

export function createRedisTakers(redis: Redis, prefix: string): Takers {
  const key = `${prefix}:workers`;
  return {
    tell: async (workerId) => void (await tell(redis, [key], [workerId, COUNTS_FOR_MS])),
    withdraw: async (workerId) => void (await redis.zrem(key, workerId)),
    list: async () => idsSchema.parse(await list(redis, [key], [COUNTS_FOR_MS])),
  };
}

/** The same for the workers of this process. */
export function createMemoryTakers(): Takers {
  const ids = new Set<string>();
  return {
    tell: async (workerId) => void ids.add(workerId),
    withdraw: async (workerId) => void ids.delete(workerId),
    list: async () => [...ids],
  };
}

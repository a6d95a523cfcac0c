import type { Redis } from 'ioredis';
import { redisScript } from '../redis/redis-script.ts';

/** The trees of rules that ran, by `treeKey`. The least recently used are evicted. */
export type Trees = {
  keep(key: string, tree: string, seconds: number): Promise<void>;
  get(key: string): Promise<string | null>;
};

/** A client chooses the digest that it reports, so a key includes the app. */
export const treeKey = (app: number, digest: string): string => `${app}/${digest}`;

/** Scores are times of last use. */
const keep = redisScript(`
local tree, used, sizes, total = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, key, text, seconds, now, most = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
redis.call('SET', tree, text, 'EX', seconds)
redis.call('ZADD', used, now, key)
local before = tonumber(redis.call('HGET', sizes, key) or '0')
redis.call('HSET', sizes, key, #text)
redis.call('INCRBY', total, #text - before)
while tonumber(redis.call('GET', total)) > most do
  local oldest = redis.call('ZRANGE', used, 0, 0)[1]
  if not oldest then break end
  redis.call('DEL', prefix .. oldest)
  redis.call('DECRBY', total, redis.call('HGET', sizes, oldest))
  redis.call('HDEL', sizes, oldest)
  redis.call('ZREM', used, oldest)
end
return 1
`);

export function createRedisTrees(redis: Redis, deployment: string, maxBytes: number): Trees {
  const prefix = `${deployment}:tree:`;
  const kept = ['used', 'sizes', 'bytes'].map((name) => `${deployment}:trees:${name}`);
  return {
    async keep(key, tree, seconds) {
      await keep(redis, [`${prefix}${key}`, ...kept], [prefix, key, tree, seconds, Date.now(), maxBytes]);
    },
    get: (key) => redis.get(`${prefix}${key}`),
  };
}

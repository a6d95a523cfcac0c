import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A Lua script that Redis runs as one step. Only its digest is sent, except to a Redis that does not know it yet. */
export function redisScript(text: string) {
  const digest = createHash('sha1').update(text).digest('hex');
  return async (redis: Redis, keys: string[], parameters: (string | number)[]): Promise<unknown> => {
    const all = [...keys, ...parameters];
    return redis.evalsha(digest, keys.length, ...all).catch((error) => {
      if (!String(error).includes('NOSCRIPT')) throw error;
      return redis.eval(text, keys.length, ...all);
    });
  };
}

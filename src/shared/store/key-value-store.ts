import type { Redis } from 'ioredis';

/** A small shared memory beside the queue: values are put once, read by anyone, and forgotten after a while. */
export type Store = {
  /** Keeps `value` for `seconds` unless the key has one already. Resolves to the value the key has from now on. */
  setIfAbsent(key: string, value: string, seconds: number): Promise<string>;
  /** Like `setIfAbsent`, and keeps a value that is there already for another `seconds` when it is the same one. */
  hold(key: string, value: string, seconds: number): Promise<string>;
  /** The value of a key, or null when there is none (any more). */
  get(key: string): Promise<string | null>;
  /** Forgets a value before its time, if there is one. */
  remove(key: string): Promise<void>;
  close(): Promise<void>;
};

/** Texts up to this size travel with a job; larger ones are put into the store, since every API reads every event. */
export const INLINE_BYTES = 16 * 1024;

/** The Redis key a value lies under. */
export const storedKey = (prefix: string, key: string) => `${prefix}:store:${key}`;

/** The store of several processes: plain Redis keys with an expiry. Owns the connection it is given. */
export function createRedisStore(redis: Redis, prefix: string): Store {
  return {
    async setIfAbsent(key, value, seconds) {
      const previous = await redis.set(storedKey(prefix, key), value, 'EX', seconds, 'NX', 'GET');
      return previous ?? value;
    },
    async hold(key, value, seconds) {
      const previous = await redis.set(storedKey(prefix, key), value, 'EX', seconds, 'NX', 'GET');
      if (previous === value) await redis.expire(storedKey(prefix, key), seconds);
      return previous ?? value;
    },
    get: (key) => redis.get(storedKey(prefix, key)),
    async remove(key) {
      await redis.del(storedKey(prefix, key));
    },
    async close() {
      redis.disconnect();
    },
  };
}

/** The store of a single process: a map whose oldest values leave first once they exceed `maxBytes`. */
export function createMemoryStore(maxBytes = 256 * 1024 * 1024): Store {
  const entries = new Map<string, { value: string; expiresAt: number }>();
  let bytes = 0;

  const forget = (key: string) => {
    const entry = entries.get(key);
    if (entry && entries.delete(key)) bytes -= entry.value.length;
  };
  const live = (key: string) => {
    const entry = entries.get(key);
    if (entry && entry.expiresAt <= Date.now()) forget(key);
    return entries.get(key)?.value ?? null;
  };

  const put = (key: string, value: string, seconds: number) => {
    forget(key);
    entries.set(key, { value, expiresAt: Date.now() + seconds * 1000 });
    bytes += value.length;
    for (const [oldest, { expiresAt }] of entries) {
      if (oldest === key || (bytes <= maxBytes && expiresAt > Date.now())) break;
      forget(oldest);
    }
    return value;
  };

  return {
    setIfAbsent: async (key, value, seconds) => live(key) ?? put(key, value, seconds),
    async hold(key, value, seconds) {
      const kept = live(key);
      return kept === null || kept === value ? put(key, value, seconds) : kept;
    },
    get: async (key) => live(key),
    remove: async (key) => forget(key),
    async close() {
      entries.clear();
    },
  };
}

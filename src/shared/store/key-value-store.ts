import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../contract/json/parse-json.ts';
import { time } from '../ports/time.ts';
import type { Shelf } from './embedded/stores/shelf.ts';

/** A small shared memory beside the queue: values are put once, read by anyone, and forgotten after a while. */
export type Store = {
  /** Keeps `value` for `seconds` unless the key has one already. Resolves to the value the key has from now on. */
  setIfAbsent(key: string, value: string, seconds: number): Promise<string>;
  /** Like `setIfAbsent`, and keeps a value that is there already for another `seconds` when it is the same one. */
  hold(key: string, value: string, seconds: number): Promise<string>;
  /** The value of a key, or null when there is none (any more). */
  get(key: string): Promise<string | null>;
  /** The same at once, where the values lie in this process: what is looked up within a transaction belongs to it. */
  getNow?(key: string): string | null;
  /** Forgets a value before its time, if there is one. */
  remove(key: string): Promise<void>;
  close(): Promise<void>;
};

/** Texts up to this size travel with a job; larger ones are put into the store, since every API reads every event. */
export const INLINE_BYTES = 16 * 1024;

/** The Redis key a value is stored under. */
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

/** An expired value takes room for this long at most. */
const CLEANED_EVERY_MS = 10_000;

const entrySchema = z.object({ expiresAt: z.int(), bytes: z.int() });

export type EmbeddedStore = Store & Required<Pick<Store, 'getNow'>>;

/** The store of a single process: its values lie on a shelf, and the oldest are evicted first once they exceed `maxBytes`. */
export function createEmbeddedStore(shelf: Shelf, maxBytes = 256 * 1024 * 1024): EmbeddedStore {
  const entries = new Map<string, z.infer<typeof entrySchema>>();
  let bytes = 0;
  for (const { key, info } of shelf.load()) {
    const { data } = entrySchema.safeParse(parseJson(info));
    if (data) entries.set(key, data);
    bytes += data?.bytes ?? 0;
  }

  const forget = (key: string) => {
    const entry = entries.get(key);
    if (entry && entries.delete(key)) bytes -= entry.bytes;
    return entry ? shelf.remove([key]) : Promise.resolve();
  };
  const isLive = (key: string) => (entries.get(key)?.expiresAt ?? 0) > time.now();

  async function put(key: string, value: string, seconds: number): Promise<string> {
    const entry = { expiresAt: time.now() + seconds * 1000, bytes: value.length };
    bytes += entry.bytes - (entries.get(key)?.bytes ?? 0);
    entries.delete(key); // the newest stands last
    entries.set(key, entry);
    await shelf.put([{ key, info: JSON.stringify(entry), text: value }]);
    if (bytes > maxBytes || time.now() > cleanedAt + CLEANED_EVERY_MS) await makeRoom(key);
    return value;
  }

  let cleanedAt = time.now();
  /** Removes every expired value first, then the oldest ones until there is room. */
  async function makeRoom(newest: string): Promise<void> {
    cleanedAt = time.now();
    const gone = [...entries].filter(([, { expiresAt }]) => expiresAt <= cleanedAt).map(([key]) => key);
    for (const key of gone) await forget(key);
    for (const oldest of [...entries.keys()]) {
      if (bytes <= maxBytes || oldest === newest) return;
      await forget(oldest);
    }
  }

  async function live(key: string): Promise<string | null> {
    if (isLive(key)) return shelf.read(key);
    await forget(key);
    return null;
  }

  return {
    setIfAbsent: async (key, value, seconds) =>
      isLive(key) ? ((await shelf.read(key)) ?? value) : put(key, value, seconds),
    async hold(key, value, seconds) {
      const kept = isLive(key) ? await shelf.read(key) : null;
      return kept === null || kept === value ? put(key, value, seconds) : kept;
    },
    get: live,
    getNow: (key) => (isLive(key) ? shelf.readNow(key) : null),
    remove: forget,
    async close() {},
  };
}

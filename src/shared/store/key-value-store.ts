import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../contract/json/parse-json.ts';
import { time } from '../ports/time.ts';
import type { Table } from './embedded/stores/tables.ts';

/** A small shared key-value store beside the queue; every value expires. */
export type Store = {
  /** Sets the value for `seconds` if the key has none. Resolves to the value that the key has then. */
  setIfAbsent(key: string, value: string, seconds: number): Promise<string>;
  /** Like `setIfAbsent`, and renews the expiry if the value is the same. */
  hold(key: string, value: string, seconds: number): Promise<string>;
  get(key: string): Promise<string | null>;
  /** The same synchronously, in the embedded store, so that a look-up is part of a transaction. */
  getNow?(key: string): string | null;
  remove(key: string): Promise<void>;
};

/** Larger texts are stored by key, because Redis holds a job's result twice: in the job and in its event. */
export const INLINE_BYTES = 16 * 1024;

export const storedKey = (prefix: string, key: string) => `${prefix}:store:${key}`;

/** Redis keys with an expiry. */
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
  };
}

const CLEANED_EVERY_MS = 10_000;

const entrySchema = z.object({ expiresAt: z.int(), bytes: z.int() });

export type EmbeddedStore = Store & Required<Pick<Store, 'getNow'>>;

/** The embedded store. Beyond `maxBytes` the oldest values are evicted. */
export function createEmbeddedStore(table: Table, maxBytes = 256 * 1024 * 1024): EmbeddedStore {
  const entries = new Map<string, z.infer<typeof entrySchema>>();
  let bytes = 0;
  for (const { key, info } of table.load()) {
    const { data } = entrySchema.safeParse(parseJson(info));
    if (data) entries.set(key, data);
    bytes += data?.bytes ?? 0;
  }

  const forget = (key: string) => {
    const entry = entries.get(key);
    if (entry && entries.delete(key)) bytes -= entry.bytes;
    return entry ? table.remove([key]) : Promise.resolve();
  };
  const isLive = (key: string) => (entries.get(key)?.expiresAt ?? 0) > time.now();

  async function put(key: string, value: string, seconds: number): Promise<string> {
    const entry = { expiresAt: time.now() + seconds * 1000, bytes: value.length };
    bytes += entry.bytes - (entries.get(key)?.bytes ?? 0);
    entries.delete(key); // the newest stands last
    entries.set(key, entry);
    await table.put([{ key, info: JSON.stringify(entry), text: value }]);
    if (bytes > maxBytes || time.now() > cleanedAt + CLEANED_EVERY_MS) await makeRoom(key);
    return value;
  }

  let cleanedAt = time.now();
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
    if (isLive(key)) return table.read(key);
    await forget(key);
    return null;
  }

  return {
    setIfAbsent: async (key, value, seconds) =>
      isLive(key) ? ((await table.read(key)) ?? value) : put(key, value, seconds),
    async hold(key, value, seconds) {
      const kept = isLive(key) ? await table.read(key) : null;
      return kept === null || kept === value ? put(key, value, seconds) : kept;
    },
    get: live,
    getNow: (key) => (isLive(key) ? table.readNow(key) : null),
    remove: forget,
  };
}

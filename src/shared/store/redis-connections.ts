import type { Redis } from 'ioredis';

/** A connection as far as reconnecting it goes: one of ioredis, or BullMQ's view of one. */
type Connection = {
  readonly status: string;
  disconnect(reconnect: boolean): void;
  on(event: 'end', listener: () => void): unknown;
};

/** Redis answers, and takes no writes: nothing can be begun. */
export class StoreTakesNoWrites extends Error {}

/** The commands that failed together with the first one have their replies by then, so their callers know that nothing was done. */
const RECONNECT_AFTER_MS = 50;
const RECONNECT_AT_MOST_EVERY_MS = 1000;
const PROBE = '{rule-server}:probe';
const PROBE_SECONDS = 60;

export type RedisConnections = ReturnType<typeof createRedisConnections>;

/**
 * All connections of this process to one Redis. After a fail-over they may still lead to the old master, which is a replica
 * now: once one of them hears READONLY, all are made anew, so that they find the address where it leads by now.
 */
export function createRedisConnections() {
  const open = new Set<Connection>();
  let dueAt = 0;

  function reconnect(): void {
    const now = performance.now();
    if (now < dueAt) return;
    dueAt = now + RECONNECT_AT_MOST_EVERY_MS;
    setTimeout(() => {
      for (const connection of open) if (connection.status === 'ready') connection.disconnect(true);
    }, RECONNECT_AFTER_MS).unref();
  }

  return {
    /** Reconnects this one with the others until it is closed. */
    keep(connection: Connection): void {
      open.add(connection);
      connection.on('end', () => open.delete(connection));
    },

    /** The `reconnectOnError` of ioredis: false, because not this one alone and not at once. */
    reconnectOnError(error: Error): false {
      if (/\bREADONLY\b/.test(error.message)) reconnect();
      return false;
    },

    /** Rejects unless Redis is a master and takes a small write; also with `StoreTakesNoWrites`, which says why. */
    async probe(redis: Redis): Promise<void> {
      // If this user may not ask for the role, the write tells whether Redis takes writes.
      const [role] = await redis.role().catch(() => ['unknown']);
      if (role === 'slave') {
        reconnect();
        throw new StoreTakesNoWrites('Redis is a replica and takes no writes (READONLY)');
      }
      await redis.set(PROBE, '', 'EX', PROBE_SECONDS);
    },
  };
}

import { Redis } from 'ioredis';
import type { RedisAddress } from '../../runtime/settings/redis-address.ts';
import { createMasterRoute, type MasterRoute } from './master-route.ts';
import { policyRefusalOf, refusalOf, runIdOf } from './redis-examination.ts';

/** A connection as far as reconnecting it goes: one of ioredis, or BullMQ's view of one. */
type Connection = {
  readonly status: string;
  readonly stream?: { readonly bytesRead?: number };
  disconnect(reconnect: boolean): void;
  on(event: 'end', listener: () => void): unknown;
};

/** Redis answers, and takes no writes: nothing can be begun. */
export class StoreTakesNoWrites extends Error {}

/**
 * The commands that failed together with the first one have their replies by then, so their callers know that nothing was
 * done.
 */
const RECONNECT_AFTER_MS = 50;
const RECONNECT_AT_MOST_EVERY_MS = 1000;
const PROBE_SECONDS = 60;
/** Its policy may be changed while Redis runs. */
const POLICY_EVERY_MS = 5000;

const retryStrategy = (attempt: number) => Math.min(100 * attempt, 500);

/** The options in which connections differ. */
type ConnectionOptions = {
  enableOfflineQueue?: boolean;
  maxRetriesPerRequest: number | null;
  commandTimeout?: number;
  connectTimeout?: number;
  socketTimeout?: number;
};

export type RedisConnections = ReturnType<typeof createRedisConnections>;

/**
 * All connections of this process to one Redis; no other file opens one. After a fail-over they may still lead to the old
 * master, which is a replica now: once one of them hears READONLY, all are made anew, so that they find the address where it
 * leads by now. Behind Sentinels and in a Cluster the master is looked for.
 */
export function createRedisConnections(address: RedisAddress) {
  const route = address.kind === 'single' ? undefined : createMasterRoute(address);
  const { keep, reconnect, heard } = createReconnection(route);
  const health = createHealth(address, reconnect);

  /** The `reconnectOnError` of ioredis: false, because not this one alone and not at once. */
  function reconnectOnError(error: Error): false {
    if (/\b(READONLY|UNBLOCKED)\b|^MOVED /.test(error.message)) reconnect();
    return false;
  }
  const found = route && { Connector: route.Connector };
  const options = { ...addressOptions(address), ...found, retryStrategy, reconnectOnError };

  return {
    /** The options of every connection, for those that BullMQ opens. */
    options,
    keep,
    heard,
    ...health,

    open(more: ConnectionOptions): Redis {
      const redis = new Redis({ ...options, ...more });
      redis.on('error', () => {}); // the queue's own connection reports the same fault
      keep(redis);
      return redis;
    },

    close: () => route?.close(),
  };
}

function createReconnection(route: MasterRoute | undefined) {
  const open = new Set<Connection>();
  const read = new WeakMap<Connection, number>();
  let total = 0;
  let dueAt = 0;

  return {
    /** Reconnects this one with the others until it is closed. */
    keep(connection: Connection): void {
      open.add(connection);
      connection.on('end', () => open.delete(connection));
    },

    /** All that was read on all connections, in bytes; one that is made anew adds to it only when something came on it. */
    heard(): number {
      for (const connection of open) {
        const bytes = connection.stream?.bytesRead ?? 0;
        const before = read.get(connection) ?? 0;
        if (bytes > before) total += bytes - before;
        read.set(connection, bytes);
      }
      return total;
    },

    reconnect(): void {
      if (route) {
        route.look();
        return;
      }
      const now = performance.now();
      if (now < dueAt) return;
      dueAt = now + RECONNECT_AT_MOST_EVERY_MS;
      setTimeout(() => {
        for (const connection of open) if (connection.status === 'ready') connection.disconnect(true);
      }, RECONNECT_AFTER_MS).unref();
    },
  };
}

function createHealth(address: RedisAddress, reconnect: () => void) {
  let refusal: string | undefined;
  let forgets: string | undefined;
  let policyDueAt = 0;
  let run: string | undefined;
  return {
    /** Why this Redis can never serve, as far as it was looked at: each time when a connection was made. */
    async examine(redis: Redis): Promise<string | undefined> {
      run = await runIdOf(redis);
      redis.once('close', () => {
        run = undefined;
      });
      refusal = await refusalOf(redis, address);
      policyDueAt = 0;
      return refusal;
    },

    /** The id of the run of Redis that is connected; undefined while none is. */
    lastRun: () => run,

    /** Rejects unless Redis is a master and takes a small write; also with `StoreTakesNoWrites`, which says why. */
    async probe(redis: Redis): Promise<void> {
      if (performance.now() >= policyDueAt) {
        forgets = await policyRefusalOf(redis);
        policyDueAt = performance.now() + POLICY_EVERY_MS;
      }
      const why = forgets ?? refusal;
      if (why !== undefined) throw new StoreTakesNoWrites(why);
      // If this user may not ask for the role, the write tells whether Redis takes writes.
      const [role] = await redis.role().catch(() => ['unknown']);
      if (role === 'slave') {
        reconnect();
        throw new StoreTakesNoWrites('Redis is a replica and takes no writes (READONLY)');
      }
      await redis.time(); // what scripts need
      await redis.set(`${address.prefix}:probe`, '', 'EX', PROBE_SECONDS);
    },
  };
}

function addressOptions({ kind, endpoints, username, password, database, family, tls }: RedisAddress) {
  const [first] = endpoints;
  return {
    ...(kind === 'single' && first && { host: first.host, port: first.port, family }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls }),
    db: database,
  };
}

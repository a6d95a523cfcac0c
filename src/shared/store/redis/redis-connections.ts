import { Redis } from 'ioredis';
import { RETRY_MS, SOON_MS } from '../../runtime/async.ts';
import type { RedisAddress } from '../../runtime/settings/redis-address.ts';
import { createMasterRoute, type MasterRoute } from './master-route.ts';
import { policyRefusalOf, refusalOf, runIdOf } from './redis-examination.ts';

/** A connection of ioredis, or BullMQ's view of one. */
type Connection = {
  readonly status: string;
  readonly stream?: { readonly bytesRead?: number };
  disconnect(reconnect: boolean): void;
  on(event: 'end', listener: () => void): unknown;
};

export class StoreTakesNoWrites extends Error {}

/** Reconnects one moment later, so that all commands that were refused together get their replies and know that nothing was done. */
const PROBE_SECONDS = 60;
/** Checked again, because the policy may be changed at run time. */
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
 * All connections of this process to one Redis; no other file opens one. After a fail-over they may lead to the old master, which is a
 * replica now: on the first READONLY all of them reconnect to where the address leads now. Behind Sentinels and in a Cluster the master is
 * looked up.
 */
export function createRedisConnections(address: RedisAddress) {
  const route = address.kind === 'single' ? undefined : createMasterRoute(address);
  const { keep, reconnect, lastActivity } = createReconnection(route);
  const health = createHealth(address, reconnect);

  /** Returns false to ioredis, because all connections reconnect, not this one alone. */
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
    lastActivity,
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
    /** Includes this connection when all reconnect, until it is closed. */
    keep(connection: Connection): void {
      open.add(connection);
      connection.on('end', () => open.delete(connection));
    },

    /** Bytes read on all connections so far. */
    lastActivity(): number {
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
        route.poll();
        return;
      }
      const now = performance.now();
      if (now < dueAt) return;
      dueAt = now + RETRY_MS;
      setTimeout(() => {
        for (const connection of open) if (connection.status === 'ready') connection.disconnect(true);
      }, SOON_MS).unref();
    },
  };
}

function createHealth(address: RedisAddress, reconnect: () => void) {
  let refusal: string | undefined;
  let forgets: string | undefined;
  let policyDueAt = 0;
  let run: string | undefined;
  return {
    /** Why this Redis can never be used, as examined at each connection. */
    async examine(redis: Redis): Promise<string | undefined> {
      run = await runIdOf(redis);
      redis.once('close', () => {
        run = undefined;
      });
      refusal = await refusalOf(redis, address);
      policyDueAt = 0;
      return refusal;
    },

    /** The run id of the connected Redis. */
    lastRun: () => run,

    /** Rejects unless Redis is a master and accepts a write, with `StoreTakesNoWrites` as the reason if it accepts none. */
    async probe(redis: Redis): Promise<void> {
      if (performance.now() >= policyDueAt) {
        forgets = await policyRefusalOf(redis);
        policyDueAt = performance.now() + POLICY_EVERY_MS;
      }
      const why = forgets ?? refusal;
      if (why !== undefined) throw new StoreTakesNoWrites(why);
      // A user that may not run ROLE learns it from the write.
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

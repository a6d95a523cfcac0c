import { EventEmitter } from 'node:events';
import { PGlite } from '@electric-sql/pglite';
import { type PgNotification, type PgPool, type PgPoolClient, type PgQueryResult, runMigrations } from 'bullmq';
import type { Room } from './durable/room.ts';
import { createPostgresUpkeep } from './postgres-upkeep.ts';

const SCHEMA = 'bullmq';

/**
 * The default buffers cost 130 MB of memory, and a checkpoint writes all of them. search_path as a start parameter survives
 * everything. New files of the log are not filled with zeros first, and few are kept: it is cut every 32 MB.
 */
const PARAMETERS = {
  search_path: SCHEMA,
  shared_buffers: '8MB',
  wal_init_zero: 'off',
  min_wal_size: '32MB',
  max_wal_size: '64MB',
  default_statistics_target: '10',
};

/** PostgreSQL inside this process in the shape of a `pg` pool. `end` does nothing: the opener calls `shutDown`. */
export type EmbeddedPool = PgPool & {
  options: { keepAlive: boolean };
  shutDown(): Promise<void>;
  /** Calls `listener` when the database says that it is damaged. */
  onDamage(listener: (error: Error) => void): void;
};

/** What PostgreSQL says of a page or an index that is not as it wrote it. */
const DAMAGED = new Set(['XX001', 'XX002']);

/** Starts the embedded database, in memory or in a folder where `room` is asked before each statement, and creates the queue's tables in it. */
export async function startEmbeddedPostgres(folder?: string, room?: Room): Promise<EmbeddedPool> {
  const parameters = Object.entries(PARAMETERS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const startParams = [...PGlite.defaultStartParams, ...parameters];
  const database = await PGlite.create({ startParams, ...(folder !== undefined && { dataDir: folder }) });
  const inTurn = createTurnstile();
  const upkeep = createPostgresUpkeep((text) => inTurn(() => database.query(text)));
  let onDamage = (_: Error) => {};

  async function query<R>(text: string, parameters?: readonly unknown[]): Promise<PgQueryResult<R>> {
    room?.check();
    upkeep.afterStatement();
    try {
      const result = await inTurn(() => database.query<R>(text, parameters ? [...parameters] : undefined));
      return { rows: result.rows, rowCount: result.affectedRows ?? result.rows.length };
    } catch (error) {
      if (error instanceof Error && 'code' in error && DAMAGED.has(String(error.code))) onDamage(error);
      throw error;
    }
  }

  await inTurn(() =>
    runMigrations(
      {
        async query<R>(text: string, parameters?: readonly unknown[]) {
          if (parameters?.length) return { rows: (await database.query<R>(text, [...parameters])).rows };
          const results = await database.exec(text);
          return { rows: (results.at(-1)?.rows ?? []) as R[] };
        },
      },
      SCHEMA,
    ),
  );

  class Client extends EventEmitter {
    query = query;
    #stopListening = database.onNotification((channel, payload) => {
      this.emit('notification', { channel, payload } satisfies PgNotification);
    });
    release() {
      this.#stopListening();
    }
  }

  return Object.assign(new EventEmitter().setMaxListeners(0), {
    options: { keepAlive: true },
    query,
    connect: async (): Promise<PgPoolClient> => new Client(),
    end: async () => {},
    shutDown: () => inTurn(() => database.close()),
    onDamage(listener: (error: Error) => void) {
      onDamage = listener;
    },
  });
}

/**
 * Runs one task after the other, one per event-loop turn. PGlite answers in microtasks: without the pause a burst of
 * queries runs to its end before any timer or socket is served.
 */
function createTurnstile() {
  let last: Promise<unknown> = Promise.resolve();
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
  return <T>(task: () => Promise<T>): Promise<T> => {
    const done = last.then(task);
    last = done.then(nextTurn, nextTurn);
    return done;
  };
}

import { EventEmitter } from 'node:events';
import { PGlite } from '@electric-sql/pglite';
import { type PgNotification, type PgPool, type PgPoolClient, type PgQueryResult, runMigrations } from 'bullmq';

const SCHEMA = 'bullmq';
const STATEMENTS_BETWEEN_VACUUMS = 20_000;

/** PostgreSQL inside this process, in memory, in the shape of a `pg` pool. `end` does nothing: the opener calls `shutDown`. */
export type EmbeddedPool = PgPool & { options: { keepAlive: boolean }; shutDown(): Promise<void> };

/** Starts the embedded database and creates the queue's tables in it. */
export async function startEmbeddedPostgres(): Promise<EmbeddedPool> {
  const database = await PGlite.create({
    // The default buffers cost 130 MB of memory; search_path as a start parameter survives everything.
    startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB', '-c', `search_path=${SCHEMA}`],
  });
  const inTurn = createTurnstile();
  let statements = 0;

  async function query<R>(text: string, parameters?: readonly unknown[]): Promise<PgQueryResult<R>> {
    // There is no autovacuum in a single-process PostgreSQL, and finished jobs would slow every later one.
    if (++statements % STATEMENTS_BETWEEN_VACUUMS === 0)
      void inTurn(() => database.exec('VACUUM (ANALYZE)')).catch(() => {});
    const result = await inTurn(() => database.query<R>(text, parameters ? [...parameters] : undefined));
    return { rows: result.rows, rowCount: result.affectedRows ?? result.rows.length };
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

  const pool = Object.assign(new EventEmitter().setMaxListeners(0), {
    options: { keepAlive: true },
    query,
    connect: async (): Promise<PgPoolClient> => new Client(),
    end: async () => {},
    shutDown: () => inTurn(() => database.close()),
  });
  return pool;
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

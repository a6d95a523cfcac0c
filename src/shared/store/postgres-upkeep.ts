import { z } from 'zod';

const LOOK_EVERY_STATEMENTS = 1000;
const WAL_BYTES = 32 * 1024 * 1024;
/** So many rows may be dead before a table is vacuumed: few, so that it takes no longer than a statement or two. */
const DEAD_ROWS = 1000;

const stateSchema = z.tuple([z.object({ written: z.coerce.number(), tables: z.array(z.string()).nullable() })]);

/** Where the log stands, and which tables have many dead rows. */
const LOOK = `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS written,
  (SELECT array_agg(format('%I.%I', schemaname, relname)) FROM pg_stat_user_tables WHERE n_dead_tup > ${DEAD_ROWS}) AS tables`;

type Run = (text: string) => Promise<{ rows: unknown[] }>;

/**
 * Does what other processes do beside a PostgreSQL that is not a single process: cuts its log every 32 MB, and gives back
 * the room of removed rows, table by table, each in a turn of its own.
 */
export function createPostgresUpkeep(run: Run) {
  let statements = 0;
  let cutAt = 0;
  let working = false;

  async function look(): Promise<void> {
    const [{ written, tables }] = stateSchema.parse((await run(LOOK)).rows);
    for (const table of tables ?? []) await run(`VACUUM (ANALYZE, TRUNCATE off) ${table}`);
    if (written - cutAt < WAL_BYTES) return;
    await run('CHECKPOINT');
    cutAt = written;
  }

  return {
    /** Looks after some statements, and again only when the last look is over. What fails is tried again then. */
    afterStatement(): void {
      if (++statements % LOOK_EVERY_STATEMENTS !== 0 || working) return;
      working = true;
      look()
        .catch(() => {})
        .finally(() => {
          working = false;
        });
    },
  };
}

import type { StatementSync } from 'node:sqlite';
import { createFlusher } from './flusher.ts';
import { DatabaseSync } from './sqlite.ts';

/** The layout of the tables that this version writes. A file of a later one is refused. */
const LAYOUT = 2;

/** SQLite's codes for a damaged file: SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGED = new Set([11, 26]);

/** The file was written by another version of this program. */
export class OtherLayout extends Error {}

type Options = {
  /** Where the file is; none: in the memory of this process. */
  path?: string;
  /** Whether what is written outlives a loss of power once its promise resolves. */
  flush?: boolean;
  /** Called before each transaction; what it throws, the operation fails with. */
  check?: () => void;
};

/** How much is sure when a promise resolves: it outlives a loss of power, or it outlives this process. */
type Sureness = 'flushed' | 'committed';

export type Database = {
  /**
   * Runs an operation, wholly or not at all. Resolves once it outlives a loss of power (if the store flushes at all), or, if 'committed'
   * is enough, once it outlives this process.
   */
  write<T>(operation: () => T, until?: Sureness): Promise<T>;
  /** Resolves once all that is committed now outlives a loss of power, if the store flushes at all. */
  flushed(): Promise<void>;
  /** Looks something up. When it resolves, what it saw outlives a loss of power, or, if 'committed' is enough, this process. */
  read<T>(look: () => T, until?: Sureness): Promise<T>;
  /** Prepared once. Only for what runs within `write` and `read`. */
  statement(sql: string): StatementSync;
  onDamage(listener: (error: Error) => void): void;
  /** Why the file is damaged; undefined when it is not. Reads all of it. */
  damage(): string | undefined;
  /** Commits and flushes what is open, and ends. */
  close(): void;
};

/**
 * Opens a SQLite database that is written by one transaction a turn of the event loop: what is asked in one turn is done at once and in
 * order, and committed at the end of the turn. The disk is waited for in another thread, by all commits of meanwhile together. Not waited
 * for: progress and data of jobs, and the taking of a job, whose worker waits instead. Claims and requests are flushed with
 * `FSYNC=1` (`worker/files/flush.ts`). Where a commit fails, nothing of that turn was done, and every operation of it rejects.
 */
export function openDatabase({ path, flush = true, check = () => {} }: Options = {}): Database {
  const database = openFile(path ?? ':memory:');
  const flusher = path !== undefined && flush ? createFlusher(`${path}-wal`) : undefined;
  const statement = statementsOf(database);
  let onDamage = (_: Error) => {};
  let isOpen = true;

  function noticed(error: unknown): unknown {
    if (error instanceof Error && 'errcode' in error && DAMAGED.has(Number(error.errcode) & 0xff)) onDamage(error);
    return error;
  }
  const turns = createTurns(database, { statement, check, noticed });
  const flushed = async () => flusher?.flushed(turns.commits());
  const mustBeOpen = () => {
    if (!isOpen) throw new Error('the store is closed');
  };

  return {
    statement,
    async write(operation, until = 'flushed') {
      mustBeOpen();
      const committed = turns.begin();
      const result = turns.runWholly(operation);
      await committed;
      if (until === 'flushed') await flushed();
      return result;
    },
    flushed,
    async read(look, until = 'flushed') {
      mustBeOpen();
      const open = turns.committed();
      try {
        const result = look();
        await open;
        if (until === 'flushed') await flushed();
        return result;
      } catch (error) {
        throw noticed(error);
      }
    },
    onDamage(listener) {
      onDamage = listener;
    },
    damage() {
      const [{ quick_check: found } = {}] = database.prepare('PRAGMA quick_check(1)').all();
      return found === 'ok' ? undefined : String(found).replaceAll(/\s+/g, ' ');
    },
    close() {
      if (!isOpen) return;
      turns.commit();
      isOpen = false;
      flusher?.close();
      database.close();
    },
  };
}

type Parts = { statement: Database['statement']; check: () => void; noticed: (error: unknown) => unknown };

/** The transactions: one for each turn of the event loop in which something is written. */
function createTurns(database: DatabaseSync, { statement, check, noticed }: Parts) {
  /** Settles at the end of the transaction that is open. */
  let turn: PromiseWithResolvers<void> | undefined;
  let commits = 0;

  function commit(): void {
    const ended = turn;
    if (!ended) return;
    turn = undefined;
    try {
      statement('COMMIT').run();
      commits++;
      ended.resolve();
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      ended.reject(noticed(error));
    }
  }

  return {
    commit,
    commits: () => commits,
    committed: (): Promise<void> | undefined => turn?.promise,
    /** The transaction of this turn; its promise settles with it. */
    begin(): Promise<void> {
      if (turn) return turn.promise;
      check();
      statement('BEGIN').run();
      turn = Promise.withResolvers();
      turn.promise.catch(() => {}); // whoever waits for it is told
      setImmediate(commit);
      return turn.promise;
    },
    /** A function that fails in the middle leaves nothing behind. */
    runWholly<T>(operation: () => T): T {
      statement('SAVEPOINT operation').run();
      try {
        const result = operation();
        statement('RELEASE operation').run();
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec('ROLLBACK TO operation; RELEASE operation');
        throw noticed(error);
      }
    },
  };
}

function statementsOf(database: DatabaseSync): Database['statement'] {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const known = prepared.get(sql);
    if (known) return known;
    const made = database.prepare(sql);
    prepared.set(sql, made);
    return made;
  };
}

function openFile(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=WAL');
    // SQLite itself flushes only around a checkpoint. What is erased is overwritten where that costs no writing of its own.
    database.exec('PRAGMA synchronous=NORMAL; PRAGMA secure_delete=FAST; PRAGMA cache_size=-16384');
    database.exec('PRAGMA journal_size_limit=67108864');
    const layout = Number(database.prepare('PRAGMA user_version').get()?.user_version);
    const other = layout > LAYOUT ? 'later' : 'earlier';
    if (layout !== 0 && layout !== LAYOUT)
      throw new OtherLayout(
        `it was written by ${other === 'later' ? 'a later' : 'an earlier'} version (layout ${layout}, this one has ${LAYOUT}). Run the ${other} version`,
      );
    if (layout === 0) database.exec(`PRAGMA user_version=${LAYOUT}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

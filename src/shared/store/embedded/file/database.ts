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
  /** The file; without one the database is in memory. */
  path?: string;
  /** Whether a write is durable across a power failure once its promise resolves. */
  flush?: boolean;
  /** Called before each transaction. Throwing makes the operation fail. */
  check?: () => void;
};

/** What a resolved promise guarantees: the change survives a power failure, or only the end of this process. */
type Sureness = 'flushed' | 'committed';

export type Database = {
  /** Runs an operation atomically. Resolves once it is flushed (if the store flushes at all), or already once it is committed if that is enough. */
  write<T>(operation: () => T, until?: Sureness): Promise<T>;
  /** Resolves once everything committed so far is flushed, if the store flushes at all. */
  flushed(): Promise<void>;
  /** Reads. Resolves once what it read is flushed, or, if 'committed' is enough, committed. */
  read<T>(look: () => T, until?: Sureness): Promise<T>;
  /** A cached statement. To be used within `write` and `read` only. */
  statement(sql: string): StatementSync;
  onDamage(listener: (error: Error) => void): void;
  /** Why the file is damaged, or undefined. Reads the whole file. */
  damage(): string | undefined;
  /** Commits, flushes and closes. */
  close(): void;
};

/**
 * Opens a SQLite database with one write transaction per turn of the event loop: operations run synchronously in order and are committed at
 * the end of the turn. A thread flushes, and one flush serves all commits that came meanwhile. Progress and data of jobs are not awaited,
 * nor is the taking of a job, whose worker waits before it dispatches. If a commit fails, no operation of that turn happened, and all of
 * them reject.
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

function createTurns(database: DatabaseSync, { statement, check, noticed }: Parts) {
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
    begin(): Promise<void> {
      if (turn) return turn.promise;
      check();
      statement('BEGIN').run();
      turn = Promise.withResolvers();
      turn.promise.catch(() => {}); // its waiters get the error
      setImmediate(commit);
      return turn.promise;
    },
    /** A savepoint, so that a function that throws halfway is rolled back alone. */
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
    // NORMAL: SQLite flushes only around checkpoints. FAST: erased data is overwritten where the page is written anyway.
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

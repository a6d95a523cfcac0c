import { existsSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { causeOf } from '../../../reasons/causes.ts';
import { errnoOf } from '../../../runtime/errno.ts';
import { servedFileSystems } from '../../../runtime/served-file-systems.ts';
import { BadSettings } from '../../../runtime/settings/settings.ts';
import { type OpenTable, openTables, STORE_TABLES } from '../stores/tables.ts';
import { markAsCopy } from './backup.ts';
import { type Database, OtherLayout, openDatabase } from './database.ts';
import { flushAtOnce } from './flusher.ts';
import { beginRun, endRun, RUN_TABLE } from './power-loss.ts';
import { createRoom, type Room } from './room.ts';
import { lockStore } from './store-lock.ts';

/** The database in the folder of a store. */
export const FILE = 'store.db';
/** A copy that an operator wants back: the next start puts it in the place of the database. */
const RESTORE = 'restore.db';
/** Created when SQLite reports damage, so that the next start moves the database aside. */
const DAMAGED = 'damaged';
type Store = { database: Database; openTable: OpenTable; room: Room; close(): Promise<void> };

/** `tell` gets a sentence for each thing that an operator should know. */
type Options = { folder: string; flush?: boolean; tell: (sentence: string) => void };

export function prepareTables(database: Database): Promise<void> {
  const tables = [JOB_TABLES, STORE_TABLES, RUN_TABLE].join('\n').split(/;\s*/).filter(Boolean);
  return database.write(() => {
    for (const table of tables) database.statement(table).run();
  });
}

/** Opens and locks the store of a folder. A damaged database is moved aside and replaced by a new one. */
export async function openStore({ folder, flush = true, tell }: Options): Promise<Store> {
  makeFolder(folder);
  const unlock = lockStore(folder);
  try {
    const room = createRoom(folder);
    const database = await openOrMake(folder, { flush, room, tell });
    const openTable = openTables(database);
    await beginRun(database, { flush, openTable, tell });
    database.onDamage((error) => {
      writeFileSync(join(folder, DAMAGED), error.message);
      tell(`The store ${folder} is damaged (${error.message}): restart the service, which moves it aside.`);
    });
    return {
      ...{ database, openTable, room },
      async close() {
        await endRun(database).catch(() => {}); // then the next start takes it for one that was killed
        database.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(dirname(folder), { recursive: true }); // other users' workers share this one
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const parent of [dirname(folder), dirname(dirname(folder))]) flushAtOnce(parent);
    writeFileSync(join(folder, 'probe'), Buffer.alloc(1024 * 1024));
    rmSync(join(folder, 'probe'));
  } catch (error) {
    throw new BadSettings(
      `The store ${folder} cannot be written (${errnoOf(error)}): make room or give this user the right, or set EMBEDDED_STORE=memory.`,
    );
  }
  // Checked first, because a full disk would look like a damaged store.
  const full = createRoom(folder).full();
  if (full !== null) throw new BadSettings(`The store ${folder} cannot be opened: ${causeOf(full)}.`);
  const kind = servedFileSystems.get(statfsSync(folder).type);
  if (kind !== undefined)
    throw new BadSettings(
      `SHARED_DIR lies on a network file system (${kind}), which can keep no store: set EMBEDDED_STORE=memory, or REDIS_URL to keep anything.`,
    );
}

type Making = { flush: boolean; room: Room; tell: Options['tell'] };

async function openOrMake(folder: string, { flush, room, tell }: Making): Promise<Database> {
  const path = join(folder, FILE);
  const open = () => openDatabase({ path, flush, check: room.check });
  if (existsSync(join(folder, RESTORE))) putBack(folder, tell);
  if (existsSync(path)) {
    const found = await openFound(folder, open).catch(unlessFault);
    if ('database' in found) return found.database;
    tell(
      `The store was damaged (${found.why}). It was moved to ${moveAside(folder, 'damaged', OF_THE_DATABASE)}, and a new one begins. What it kept is not known any more. Look at the folder or remove it.`,
    );
  }
  const database = open();
  await prepareTables(database);
  return database;
}

/** Moved together: the log of one database, replayed over another, would damage it. */
const OF_THE_DATABASE = [FILE, `${FILE}-wal`, `${FILE}-shm`, DAMAGED];

/**
 * Restores a copy: moves the database and its log aside and renames the copy into place. Crash-safe: the next start continues. Any file
 * found there counts as a copy, so nothing that had not ended in it runs again, nor any call under a key that only the replaced database
 * has.
 */
function putBack(folder: string, tell: Options['tell']): void {
  const copy = join(folder, RESTORE);
  const isReplaced = existsSync(join(folder, FILE));
  try {
    openDatabase({ path: copy, flush: false }).close(); // refuses the file of a later version
    markAsCopy(copy, isReplaced ? join(folder, FILE) : undefined);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new BadSettings(
      `${copy} cannot be put back (${why}): put a file there that "rule-server backup" wrote, or remove it.`,
    );
  }
  const aside = isReplaced ? moveAside(folder, 'replaced', OF_THE_DATABASE) : null;
  renameSync(copy, join(folder, FILE));
  tell(`The copy ${copy} was put back.${aside === null ? '' : ` The store it replaces is in ${aside} now.`}`);
}

async function openFound(folder: string, open: () => Database): Promise<{ database: Database }> {
  if (existsSync(join(folder, DAMAGED))) throw new Error('it said so while it was used');
  const database = open();
  try {
    await prepareTables(database);
    const wasClosed = await database.read(() => database.statement(`SELECT 1 FROM run WHERE name = 'closed'`).get());
    const damage = wasClosed === undefined ? database.damage() : undefined;
    if (damage !== undefined) throw new Error(damage);
    return { database };
  } catch (error) {
    database.close();
    throw error;
  }
}

function moveAside(folder: string, why: string, names: readonly string[]): string {
  const aside = join(dirname(folder), `store.${why}-${new Date().toISOString().replaceAll(':', '-')}`);
  mkdirSync(aside, { mode: 0o700 });
  for (const name of names) if (existsSync(join(folder, name))) renameSync(join(folder, name), join(aside, name));
  return aside;
}

/** SQLite's codes for a machine that lacks memory, room or permission, or fails to read: no damage. */
const FAULTS = new Set([3, 5, 7, 8, 10, 13, 14, 23]);

function unlessFault(error: unknown): { why: string } {
  if (error instanceof OtherLayout)
    throw new BadSettings(`The store is of no use to this version: ${error.message}, or set another SHARED_DIR.`);
  if (['ENOSPC', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'EDQUOT'].includes(errnoOf(error))) throw error;
  if (error instanceof Error && 'errcode' in error && FAULTS.has(Number(error.errcode) & 0xff)) throw error;
  return { why: error instanceof Error ? error.message : String(error) };
}

/**
 * The jobs of the queues, which `queue/sqlite` takes and ends: `waiting`, `snoozed` until `due_at`, `taken` or `ended`. The lowest `place` is next.
 * `takes`: how often a worker took it; `trace`: in which trace it was added.
 */
const JOB_TABLES = `
CREATE TABLE IF NOT EXISTS job (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, place INTEGER NOT NULL, due_at INTEGER,
  data TEXT NOT NULL, head TEXT, trace TEXT, added_at INTEGER NOT NULL,
  takes INTEGER NOT NULL DEFAULT 0, progress TEXT, ended_at INTEGER, value TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS job_id ON job (queue, id);
CREATE INDEX IF NOT EXISTS job_waiting ON job (queue, place) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS job_taken ON job (queue) WHERE state = 'taken';
CREATE INDEX IF NOT EXISTS job_snoozed ON job (queue, due_at) WHERE state = 'snoozed';
CREATE INDEX IF NOT EXISTS job_ended ON job (queue, ended_at) WHERE state = 'ended';
`;

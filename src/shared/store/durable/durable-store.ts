import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../runtime/errno.ts';
import { servedFileSystems } from '../../runtime/served-file-systems.ts';
import { BadSettings } from '../../runtime/settings.ts';
import { type EmbeddedPool, startEmbeddedPostgres } from '../embedded-postgres.ts';
import { type OpenShelf, type Shelf, type ShelfName, shelfNames } from '../shelf.ts';
import { noteKeysOf } from './keys-in-ledger.ts';
import { type Ledger, openLedger } from './ledger.ts';
import { keepAsUnknown } from './lost-store.ts';
import { createRoom, type Room } from './room.ts';
import { lockStore } from './store-lock.ts';
import { openTableShelves } from './table-shelf.ts';

/** The release of PostgreSQL that PGlite is made of. Its files are of no use to another one. */
const MAJOR = 'pg18';
/** There once a database was made: what lacks it was never used. */
const READY = 'ready';
/** There once the database said that it is damaged: the next start moves it aside. */
const DAMAGED = 'damaged';

type DurableStore = { pool: EmbeddedPool; openShelf: OpenShelf; ledger: Ledger; room: Room; close(): Promise<void> };
type Database = { pool: EmbeddedPool; shelves: Map<ShelfName, Shelf> };

/** `tell` is given one sentence for whatever an operator should know. */
type Options = { folder: string; tell: (sentence: string) => void };

/**
 * Opens the store in a folder, which this process has for itself from then on. A damaged database is moved aside and a new
 * one made. Then, and whenever a new one is made, what the ledger names is kept as `outcome-unknown`.
 */
export async function openDurableStore({ folder, tell }: Options): Promise<DurableStore> {
  makeFolder(folder);
  const unlock = lockStore(folder);
  try {
    const ledger = openLedger(join(folder, 'ledger'));
    const { pool, shelves } = await openOrMake(folder, { ledger, tell });
    pool.onDamage((error) => {
      writeFileSync(join(folder, MAJOR, DAMAGED), error.message);
      tell(`The store ${folder} is damaged (${error.message}): restart the service, which moves it aside.`);
    });
    const openShelf: OpenShelf = (name) => {
      const shelf = shelfIn(shelves, name);
      return name === 'notes' ? noteKeysOf(shelf, ledger) : shelf;
    };
    return {
      ...{ pool, openShelf, ledger, room: createRoom(folder) },
      async close() {
        await pool.shutDown();
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
    writeFileSync(join(folder, 'probe'), Buffer.alloc(1024 * 1024));
    rmSync(join(folder, 'probe'));
  } catch (error) {
    throw new BadSettings(
      `The store ${folder} cannot be written (${errnoOf(error)}): make room or give this user the right, or set EMBEDDED_STORE=memory.`,
    );
  }
  // A full disk must not look like a damaged store.
  const full = createRoom(folder).full();
  if (full !== null) throw new BadSettings(`The store ${folder} cannot be opened: ${full}.`);
  const kind = servedFileSystems.get(statfsSync(folder).type);
  if (kind !== undefined)
    throw new BadSettings(
      `SHARED_DIR lies on a network file system (${kind}), which can keep no store: set EMBEDDED_STORE=memory, or REDIS_URL to keep anything.`,
    );
}

type Making = { ledger: Ledger; tell: Options['tell'] };

async function openOrMake(folder: string, { ledger, tell }: Making): Promise<Database> {
  const own = join(folder, MAJOR);
  if (!existsSync(join(own, READY))) rmSync(own, { recursive: true, force: true });
  else {
    const found = await openFound(own).catch(unlessFault);
    if ('pool' in found) return found;
    const aside = join(dirname(folder), `store.damaged-${new Date().toISOString().replaceAll(':', '-')}`);
    renameSync(own, aside);
    tell(
      `The store was damaged (${found.why}) and lies in ${aside} now: a new one begins, and how executions of before ended is not known. Look at it or remove it.`,
    );
  }
  for (const other of readdirSync(folder).filter((name) => /^pg\d+$/.test(name) && name !== MAJOR))
    tell(
      `The store ${join(folder, other)} is of another release and is not read: its queue, history, notes and batches are dropped. Remove it.`,
    );
  const made = await openFolder(own);
  const unknown = await keepAsUnknown(ledger, (name) => shelfIn(made.shelves, name));
  if (unknown > 0) tell(`Executions of before that are kept as outcome-unknown: ${unknown}. None of them runs again.`);
  writeFileSync(join(own, READY), '');
  await made.pool.shutDown();
  return openFolder(own);
}

async function openFound(own: string): Promise<Database> {
  if (existsSync(join(own, DAMAGED))) throw new Error('it said so while it was used');
  // Where there is none, PostgreSQL would begin a new one and say nothing.
  if (!existsSync(join(own, 'data', 'PG_VERSION'))) throw new Error('its files are gone');
  return openFolder(own);
}

/** A machine that lacks memory, room or permission is no damage. */
function unlessFault(error: unknown): { why: string } {
  if (['ENOSPC', 'EACCES', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM', 'EDQUOT'].includes(errnoOf(error))) throw error;
  return { why: error instanceof Error ? error.message : String(error) };
}

async function openFolder(own: string): Promise<Database> {
  const texts = join(own, 'texts');
  mkdirSync(texts, { recursive: true, mode: 0o700 });
  const pool = await startEmbeddedPostgres(join(own, 'data'), createRoom(own));
  const open = await openTableShelves(pool, texts);
  const shelves = new Map<ShelfName, Shelf>();
  for (const name of shelfNames) shelves.set(name, await open(name));
  return { pool, shelves };
}

function shelfIn(shelves: Database['shelves'], name: ShelfName): Shelf {
  const shelf = shelves.get(name);
  if (!shelf) throw new Error(`there is no shelf ${name}`);
  return shelf;
}

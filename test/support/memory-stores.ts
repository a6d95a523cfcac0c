import { openDatabase } from '../../src/shared/store/embedded/file/database.ts';
import { prepareTables } from '../../src/shared/store/embedded/file/embedded-store.ts';
import type { OpenTable } from '../../src/shared/store/embedded/stores/tables.ts';
import { openTables } from '../../src/shared/store/embedded/stores/tables.ts';
import { createEmbeddedStore, type EmbeddedStore } from '../../src/shared/store/key-value-store.ts';

/** Tables in a database of their own, in memory. */
export function memoryTables(): OpenTable {
  const database = openDatabase();
  void prepareTables(database); // done at once, and committed before anything that is put later
  return openTables(database);
}

/** The key-value store of one process. */
export const memoryStore = (maxBytes = 256 * 1024 * 1024): EmbeddedStore =>
  createEmbeddedStore(memoryTables()('store'), maxBytes);

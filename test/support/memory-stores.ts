import { openDatabase } from '../../src/shared/store/embedded/file/database.ts';
import { prepareTables } from '../../src/shared/store/embedded/file/embedded-store.ts';
import type { OpenShelf } from '../../src/shared/store/embedded/stores/shelf.ts';
import { tableShelves } from '../../src/shared/store/embedded/stores/shelves.ts';
import { createEmbeddedStore, type EmbeddedStore } from '../../src/shared/store/key-value-store.ts';

/** Shelves in a database of their own, in memory. */
export function memoryShelves(): OpenShelf {
  const database = openDatabase();
  void prepareTables(database); // done at once, and committed before anything that is put later
  return tableShelves(database);
}

/** The key-value store of one process. */
export const memoryStore = (maxBytes = 256 * 1024 * 1024): EmbeddedStore =>
  createEmbeddedStore(memoryShelves()('store'), maxBytes);

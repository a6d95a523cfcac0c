import { z } from 'zod';
import type { Database } from '../file/database.ts';
import { type OpenShelf, type Shelf, type ShelfName, shelfNames } from './shelf.ts';

/** One table for each store, so that what one of them holds can be looked at alone. */
export const SHELF_TABLES = shelfNames
  .map(
    (name) =>
      `CREATE TABLE IF NOT EXISTS ${name} (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, info TEXT, text TEXT);`,
  )
  .join('\n');

const loadedSchema = z.array(z.object({ key: z.string(), info: z.string() }));
const textSchema = z.object({ text: z.string().nullable() }).optional();

/** The shelves of a database. */
export function tableShelves(database: Database): OpenShelf {
  return (name) => tableShelf(name, database);
}

function tableShelf(name: ShelfName, { read, write, statement }: Database): Shelf {
  const readNow = (key: string) =>
    textSchema.parse(statement(`SELECT text FROM ${name} WHERE key = ?`).get(key))?.text ?? null;
  return {
    readNow,
    load: () =>
      loadedSchema.parse(statement(`SELECT key, info FROM ${name} WHERE info IS NOT NULL ORDER BY seq`).all()),
    put: (entries) =>
      write(() => {
        const put = statement(
          `INSERT INTO ${name} (key, info, text) VALUES (?, ?, ?)
          ON CONFLICT (key) DO UPDATE SET info = COALESCE(excluded.info, info), text = COALESCE(excluded.text, text)`,
        );
        for (const { key, info, text } of entries) put.run(key, info ?? null, text ?? null);
      }),
    read: (key) => read(() => readNow(key)),
    sure: (seen) => read(() => seen),
    remove: (keys) =>
      write(() => {
        for (const key of keys) statement(`DELETE FROM ${name} WHERE key = ?`).run(key);
      }),
  };
}

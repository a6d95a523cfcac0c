import { z } from 'zod';
import type { Database } from '../file/database.ts';

/** One row. `info` is loaded at the start; `text` is read on demand. */
export type Entry = { key: string; info?: string; text?: string };

/** The table of one embedded store. Operations run in the order of their calls. */
export type Table = {
  /** The rows with an `info`, in insertion order. Call it once, at the start. */
  load(): { key: string; info: string }[];
  /** Upserts all entries in one transaction. An omitted member keeps its value. */
  put(entries: readonly Entry[]): Promise<void>;
  read(key: string): Promise<string | null>;
  /** Reads synchronously, within the open transaction. */
  readNow(key: string): string | null;
  remove(keys: readonly string[]): Promise<void>;
  /** Resolves to `seen` once it is durable, so that no answer is based on data that a power failure takes back. */
  sure<T>(seen: T): Promise<T>;
};

const tableNames = [
  'store',
  'trees',
  'history',
  'history_of_batches',
  'pinned',
  'pinned_trees',
  'idempotency_records',
  'batches',
] as const;
type TableName = (typeof tableNames)[number];
export type OpenTable = (name: TableName) => Table;

export const STORE_TABLES = tableNames
  .map(
    (name) =>
      `CREATE TABLE IF NOT EXISTS ${name} (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, info TEXT, text TEXT);`,
  )
  .join('\n');

const loadedSchema = z.array(z.object({ key: z.string(), info: z.string() }));
const textSchema = z.object({ text: z.string().nullable() }).optional();

export function openTables(database: Database): OpenTable {
  return (name) => tableOf(name, database);
}

function tableOf(name: TableName, { read, write, statement }: Database): Table {
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

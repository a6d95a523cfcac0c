import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { EmbeddedPool } from '../embedded-postgres.ts';
import { INLINE_BYTES } from '../key-value-store.ts';
import { type Entry, type Shelf, type ShelfName, shelfNames } from '../shelf.ts';

const LOADED_AT_ONCE = 2000;
const REMOVED_AT_ONCE = 500;
/** The first character of a kept text says whether the rest is the text, or the name of the file that has it. */
const [INLINE, FILE] = ['=', '>'];

type Query = EmbeddedPool['query'];
const loadedSchema = z.array(z.object({ key: z.string(), seq: z.coerce.number(), info: z.string() }));
const textsSchema = z.array(z.object({ text: z.string().nullable() }));

/** Opens the shelves of a database: one table each, and one folder for texts above 16 KiB. */
export async function openTableShelves(
  { query }: { query: Query },
  folder: string,
): Promise<(name: ShelfName) => Promise<Shelf>> {
  await query('CREATE SCHEMA IF NOT EXISTS kept');
  for (const name of shelfNames) {
    await query(`CREATE TABLE IF NOT EXISTS kept.${name} (key text PRIMARY KEY, seq bigserial, info text, text text)`);
    await query(`CREATE INDEX IF NOT EXISTS ${name}_order ON kept.${name} (seq) WHERE info IS NOT NULL`);
  }
  await removeStrayFiles(query, folder);
  return (name) => openShelf(name, query, folder);
}

async function openShelf(name: ShelfName, query: Query, folder: string): Promise<Shelf> {
  const table = `kept.${name}`;
  let loaded = await loadAll(table, query);
  const pathOf = (text: string) => join(folder, text.slice(1));

  /** Written at once, so that what is put later cannot overtake it. */
  function place(text: string | undefined): string | null {
    if (text === undefined) return null;
    if (text.length <= INLINE_BYTES && !text.includes('\0')) return INLINE + text;
    const file = FILE + randomUUID();
    writeFileSync(pathOf(file), text, { mode: 0o600 });
    return file;
  }

  return {
    load() {
      const taken = loaded;
      loaded = [];
      return taken;
    },
    async put(entries) {
      const of = (member: (entry: Entry) => string | null) => entries.map(member);
      await query(
        `INSERT INTO ${table} (key, info, text) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
        ON CONFLICT (key) DO UPDATE SET info = COALESCE(EXCLUDED.info, ${name}.info), text = COALESCE(EXCLUDED.text, ${name}.text)`,
        [of(({ key }) => key), of(({ info }) => info ?? null), of(({ text }) => place(text))],
      );
    },
    async read(key) {
      const { rows } = await query(`SELECT text FROM ${table} WHERE key = $1`, [key]);
      const text = textsSchema.parse(rows)[0]?.text ?? null;
      if (text === null || text.startsWith(INLINE)) return text === null ? null : text.slice(1);
      return readFile(pathOf(text), 'utf8').catch(() => null); // removed since
    },
    async remove(keys) {
      for (let first = 0; first < keys.length; first += REMOVED_AT_ONCE) {
        const { rows } = await query(
          `DELETE FROM ${table} WHERE key = ANY($1::text[]) RETURNING CASE WHEN text LIKE '>%' THEN text END AS text`,
          [keys.slice(first, first + REMOVED_AT_ONCE)],
        );
        for (const { text } of textsSchema.parse(rows)) if (text !== null) rmSync(pathOf(text), { force: true });
      }
    },
  };
}

async function loadAll(table: string, query: Query): Promise<{ key: string; info: string }[]> {
  const all: { key: string; info: string }[] = [];
  for (let after = 0; ; ) {
    const { rows } = await query(
      `SELECT key, seq, info FROM ${table} WHERE info IS NOT NULL AND seq > $1 ORDER BY seq LIMIT ${LOADED_AT_ONCE}`,
      [after],
    );
    const page = loadedSchema.parse(rows);
    for (const { key, info } of page) all.push({ key, info });
    after = page.at(-1)?.seq ?? after;
    if (page.length < LOADED_AT_ONCE) return all;
  }
}

/** A crash between writing a file and its row, or after a row was removed, leaves a file that no row names. */
async function removeStrayFiles(query: Query, folder: string): Promise<void> {
  const named = new Set<string>();
  for (const name of shelfNames) {
    const { rows } = await query(`SELECT substr(text, 2) AS text FROM kept.${name} WHERE text LIKE '>%'`);
    for (const { text } of textsSchema.parse(rows)) if (text !== null) named.add(text);
  }
  for (const file of await readdir(folder)) if (!named.has(file)) rmSync(join(folder, file), { force: true });
}

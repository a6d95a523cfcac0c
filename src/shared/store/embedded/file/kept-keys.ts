import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { time } from '../../../seams/time.ts';
import { endedNote } from './lost-store.ts';
import { DatabaseSync } from './sqlite.ts';
import { lockStore } from './store-lock.ts';

/** A call as its key remembers it, with its answer where that is kept. `isUnknown`: it had not ended. */
export type KeptKey = { key: string; text: string; answer: string | null; isUnknown: boolean };

const rowsSchema = z.array(z.object({ key: z.string(), info: z.string().nullable(), text: z.string().nullable() }));
const noteSchema = z.object({ text: z.string(), expiresAt: z.int() });
const countSchema = z.object({ count: z.int() });

/**
 * Reads the keys of a store that no process uses: what each call came to. One that had not ended is `outcome-unknown` from then on, because
 * wherever its key goes nobody knows of its execution. `left`: how much else the store has. Throws `BadSettings` when a process has the store.
 */
export function readKeptKeys(
  folder: string,
): { keys: KeptKey[]; left: { executions: number; batches: number } } | null {
  const path = join(folder, 'store.db');
  if (!existsSync(path)) return null;
  const unlock = lockStore(folder);
  const database = new DatabaseSync(path);
  try {
    const rows = rowsSchema.parse(database.prepare('SELECT key, info, text FROM notes ORDER BY seq').all());
    const answers = new Map(rows.map(({ key, text }) => [key, text]));
    const count = (table: string) =>
      countSchema.parse(database.prepare(`SELECT COUNT(*) AS count FROM ${table} WHERE info IS NOT NULL`).get()).count;
    const keys = rows.flatMap(({ key, info }): KeptKey[] => {
      const { data: note } = noteSchema.safeParse(parseJson(info ?? ''));
      if (!note || note.expiresAt <= time.now()) return [];
      const ended = endedNote(note.text);
      return [
        { key, text: ended ?? note.text, answer: answers.get(`${key}:answer`) ?? null, isUnknown: ended !== null },
      ];
    });
    return { keys, left: { executions: count('history'), batches: count('batches') } };
  } finally {
    database.close();
    unlock();
  }
}

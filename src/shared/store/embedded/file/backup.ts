import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Entry } from '../stores/shelf.ts';
import { flushAtOnce } from './flusher.ts';
import { notesAsUnknown } from './power-loss.ts';
import { DatabaseSync } from './sqlite.ts';

/**
 * Writes a copy of a database, also of one that another process uses: what one reader sees, while that process writes on. The copy is flushed
 * before it gets its name, and marked: the store that it is put into takes nothing for sure that had not ended by then. Returns its bytes.
 */
export function copyDatabase(from: string, to: string): number {
  if (existsSync(to)) throw new Error(`${to} is there already: choose another name, or remove it`);
  const part = `${to}.part`;
  rmSync(part, { force: true });
  try {
    const database = new DatabaseSync(from, { readOnly: true });
    try {
      database.prepare('VACUUM INTO ?').run(part);
    } finally {
      database.close();
    }
    markAsCopy(part);
    renameSync(part, to);
    flushAtOnce(dirname(to));
    return statSync(to).size;
  } finally {
    rmSync(part, { force: true });
  }
}

/**
 * Says in a copy that it is one, and takes the keys over that only the database has which it will replace: their calls are unknown. Throws where
 * the file is no store.
 */
export function markAsCopy(path: string, replaced?: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec(`BEGIN; INSERT INTO run VALUES ('backup', '1') ON CONFLICT DO NOTHING`);
    const put = database.prepare('INSERT INTO notes (key, info) VALUES (?, ?) ON CONFLICT DO NOTHING');
    for (const { key, info = null } of replaced === undefined ? [] : keysIn(replaced)) put.run(key, info);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
  flushAtOnce(path);
}

/** None where the database is damaged: for 20 minutes the claims under the keys hold all the same. */
function keysIn(path: string): Entry[] {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return notesAsUnknown(database.prepare('SELECT key, info FROM notes WHERE info IS NOT NULL').all(), {
        all: true,
      });
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Entry } from '../stores/tables.ts';
import { flushAtOnce } from './flusher.ts';
import { recordsAsUnknown } from './power-loss.ts';
import { DatabaseSync } from './sqlite.ts';

/**
 * Copies a database as one reader sees it; another process may write to it meanwhile. The copy is flushed before it gets its name, and
 * marked as a copy: the store that it is restored to ends everything that had not ended as unknown. Returns its size.
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
 * Marks a file as a copy, and takes over the keys that only the replaced database has, because the endings of their calls are unknown.
 * Throws if the file is not a store.
 */
export function markAsCopy(path: string, replaced?: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec(`BEGIN; INSERT INTO run VALUES ('backup', '1') ON CONFLICT DO NOTHING`);
    const put = database.prepare('INSERT INTO idempotency_records (key, info) VALUES (?, ?) ON CONFLICT DO NOTHING');
    for (const { key, info = null } of replaced === undefined ? [] : keysIn(replaced)) put.run(key, info);
    database.exec('COMMIT');
  } finally {
    database.close();
  }
  flushAtOnce(path);
}

/** None if the database is damaged: the claims under these keys still hold for 20 minutes. */
function keysIn(path: string): Entry[] {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return recordsAsUnknown(
        database.prepare('SELECT key, info FROM idempotency_records WHERE info IS NOT NULL').all(),
        {
          all: true,
        },
      );
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

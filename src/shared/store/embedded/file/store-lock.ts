import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { BadSettings } from '../../../runtime/settings/settings.ts';
import { DatabaseSync } from './sqlite.ts';

const holderSchema = z.object({ pid: z.int(), host: z.string(), since: z.string() });

/**
 * Locks a folder for this process, by SQLite's file lock, which the kernel releases when the process ends. Throws `BadSettings` that names
 * the holder. Resolves to the release function.
 */
export function lockStore(folder: string): () => void {
  const database = new DatabaseSync(join(folder, 'lock'));
  const holderFile = join(folder, 'holder.json');
  try {
    database.exec('PRAGMA busy_timeout=0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (!(error instanceof Error) || !error.message.includes('locked')) throw error;
    throw new BadSettings(
      `The store ${folder} is in use by ${holderIn(holderFile)}: stop that process first, or choose another SHARED_DIR, or EMBEDDED_STORE=memory.`,
    );
  }
  const holder = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  writeFileSync(holderFile, JSON.stringify(holder));
  return () => database.close();
}

/** The file names the holder, the lock decides: a killed process leaves its file behind. */
function holderIn(path: string): string {
  try {
    const { pid, host, since } = holderSchema.parse(parseJson(readFileSync(path, 'utf8')));
    return `process ${pid} on ${host}, since ${since}`;
  } catch {
    return 'another process';
  }
}

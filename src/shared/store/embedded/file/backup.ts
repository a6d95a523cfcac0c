import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { flushAtOnce } from './flusher.ts';
import { DatabaseSync } from './sqlite.ts';

const MARK = `INSERT INTO run VALUES ('backup', '1') ON CONFLICT DO NOTHING`;

/** Copies a database as one reader sees it, while others write: in a thread, over a connection of its own. The copy is marked and flushed. */
const COPY = `
const { parentPort, workerData: { from, to, mark } } = require('node:worker_threads');
const { closeSync, fsyncSync, openSync } = require('node:fs');
const { DatabaseSync } = require('node:sqlite');
const database = new DatabaseSync(from, { readOnly: true });
database.prepare('VACUUM INTO ?').run(to);
database.close();
const copy = new DatabaseSync(to);
copy.exec(mark);
copy.close();
const handle = openSync(to, 'r');
fsyncSync(handle);
closeSync(handle);
parentPort.postMessage('done');
`;

/**
 * Writes a copy of a database that is in use; `rule-server backup` asks for it over a socket (`store-socket.ts`), and nothing stops
 * meanwhile. A thread copies what one reader sees and flushes it; then it gets its name. `embedded-store.ts` puts a copy back. The copy says that it
 * is one: the store that it is put into takes nothing for sure that had not ended by then. Resolves to its bytes. Throws a sentence for people.
 */
export async function copyDatabase(from: string, to: string): Promise<number> {
  if (existsSync(to)) throw new Error(`${to} is there already: choose another name, or remove it`);
  const part = `${to}.part`;
  rmSync(part, { force: true });
  try {
    await inThread({ from, to: part, mark: MARK });
    renameSync(part, to);
    flushAtOnce(dirname(to));
    return statSync(to).size;
  } finally {
    rmSync(part, { force: true });
  }
}

function inThread(workerData: { from: string; to: string; mark: string }): Promise<void> {
  const worker = new Worker(COPY, { eval: true, workerData, execArgv: ['--disable-warning=ExperimentalWarning'] });
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the copy ended early (${code})`)));
  });
}

/** Says in a copy that it is one. Throws where the file is no store. */
export function markAsCopy(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec(MARK);
  } finally {
    database.close();
  }
  flushAtOnce(path);
}

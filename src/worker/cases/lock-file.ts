import { dirname, join } from 'node:path';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { random } from '../../shared/seams/random.ts';
import { time } from '../../shared/seams/time.ts';
import type { FileClock } from '../files/file-clock.ts';
import { lstat, open, readFile, rename, rm, writeFile } from '../files/seams/files.ts';
import type { OpenFile } from '../files/seams/operations.ts';

/** A lock that is older, by the file system's clock, was left by a worker that died. */
const LEFT_AFTER_MS = 3000;
const WAIT_AT_MOST_MS = 8000;
const LOOK_AGAIN_MS = 50;
const TEMPORARY = /^\.[\w.-]+\.tmp$/;

/** Another worker holds the lock for too long, or took it because this one was too slow. Nothing was changed. */
export class LockLost extends Error {}

type Lock = { path: string; temporary: string; clock: FileClock };

/**
 * Runs `use` while this worker alone holds the lock file. The lock names the temporary file that its holder will rename: it
 * is removed with the lock. So when another worker takes the lock of one that only slept, the sleeper's rename fails.
 */
export async function withLock<T>({ path, temporary, clock }: Lock, use: () => Promise<T>): Promise<T> {
  await acquire({ path, temporary, clock });
  try {
    return await use();
  } finally {
    await takeAway(path);
  }
}

async function acquire({ path, temporary, clock }: Lock): Promise<void> {
  const giveUpAt = time.monotonic() + WAIT_AT_MOST_MS;
  while (!(await create(path, temporary))) {
    if (time.monotonic() > giveUpAt) throw new LockLost(`${path} is held by another worker`);
    const found = await lstat(path).catch(unless('ENOENT'));
    if (found && (await clock.touch()) - found.mtimeMs > LEFT_AFTER_MS) await takeAway(path);
    else await time.pause(LOOK_AGAIN_MS);
  }
}

async function create(path: string, temporary: string): Promise<boolean> {
  let file: OpenFile | undefined;
  try {
    file = await open(path, 'wx');
    await file.write(temporary);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await file?.close();
  }
  // Another worker may have taken the file away while it was still empty.
  return (await namedIn(path)) === temporary;
}

/** Removes the temporary file that the lock names, and then the lock: never the other way round. */
async function takeAway(path: string): Promise<void> {
  await removeNamed(path);
  const aside = join(dirname(path), `.${random.uuid()}.tmp`);
  await rename(path, aside).catch(unless('ENOENT'));
  await removeNamed(aside); // the lock may have changed hands between the two
  await rm(aside, { force: true });
}

async function removeNamed(path: string): Promise<void> {
  const name = await namedIn(path);
  if (name !== undefined && TEMPORARY.test(name)) await rm(join(dirname(path), name), { force: true });
}

const namedIn = (path: string) => readFile(path).catch(unless('ENOENT'));

/** The name of a new temporary file, which holds `text` once this has resolved. */
export async function writeTemporary(directory: string, text: string): Promise<string> {
  const name = `.${random.uuid()}.tmp`;
  await writeFile(join(directory, name), text, { flag: 'wx', flush: true });
  return name;
}

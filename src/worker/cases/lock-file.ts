import { random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { SOON_MS } from '../../shared/runtime/async.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { ClientDirectory } from '../files/client-directory.ts';
import { readUpTo } from '../files/file-system.ts';
import type { FileClock } from '../files/shared-directory.ts';

/** A lock that is older, by the file system's clock, was left by a worker that died. */
const LEFT_AFTER_MS = 3000;
const WAIT_AT_MOST_MS = 8000;
const TEMPORARY = /^\.[\w.-]+\.tmp$/;

/** Another worker holds the lock for too long, or took it because this one was too slow. Nothing was changed. */
export class LockLost extends Error {}

type Lock = { folder: ClientDirectory; name: string; temporary: string; clock: FileClock };

/**
 * Runs `use` while this worker alone holds the lock file. The lock names the temporary file that its holder will rename: it
 * is removed with the lock. So when another worker takes the lock of one that only slept, the sleeper's rename fails.
 */
export async function withLock<T>(lock: Lock, use: () => Promise<T>): Promise<T> {
  await acquire(lock);
  try {
    return await use();
  } finally {
    await takeAway(lock);
  }
}

async function acquire(lock: Lock): Promise<void> {
  const giveUpAt = time.monotonic() + WAIT_AT_MOST_MS;
  const { folder, name, clock } = lock;
  while (!(await create(lock))) {
    if (time.monotonic() > giveUpAt) throw new LockLost(`${name} is held by another worker`);
    const found = await folder.stat(name).catch(unless('ENOENT'));
    if (found && (await clock.touch()) - found.mtimeMs > LEFT_AFTER_MS) await takeAway(lock);
    else await time.pause(SOON_MS);
  }
}

async function create({ folder, name, temporary }: Lock): Promise<boolean> {
  try {
    await folder.write(name, temporary);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  // Another worker may have taken the file away while it was still empty.
  return (await namedIn(folder, name)) === temporary;
}

/** Removes the temporary file that the lock names, and then the lock: never the other way round. */
async function takeAway({ folder, name }: Lock): Promise<void> {
  await removeNamed(folder, name);
  const aside = `.${random.uuid()}.tmp`;
  await folder.rename(name, aside).catch(unless('ENOENT'));
  await removeNamed(folder, aside); // the lock may have changed hands between the two
  await folder.remove(aside);
}

async function removeNamed(folder: ClientDirectory, lock: string): Promise<void> {
  const name = await namedIn(folder, lock);
  if (name !== undefined && TEMPORARY.test(name)) await folder.remove(name);
}

const MAX_NAME = 100;
const namedIn = (folder: ClientDirectory, lock: string) =>
  folder.read(lock, async (file) => (await readUpTo(file, MAX_NAME)).toString()).catch(unless('ENOENT'));

/** The name of a new temporary file, which holds `text` on the disk once this has resolved. */
export async function writeTemporary(folder: ClientDirectory, text: string): Promise<string> {
  const name = `.${random.uuid()}.tmp`;
  await folder.write(name, text);
  await folder.sync(name);
  return name;
}

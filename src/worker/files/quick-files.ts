import { dirname } from 'node:path';
import { shareFor } from '../../shared/runtime/share-for.ts';
import { perProcess } from '../../shared/seams/process.ts';
import { time } from '../../shared/seams/time.ts';
import { limitedByDirectory } from './directory/directory-limit.ts';
import { fileSystemOf } from './file-system.ts';
import { liesElsewhere, noteRoot } from './mounts.ts';
import { filesOf, realpath } from './seams/files.ts';
import type { QuickFiles } from './seams/operations.ts';

/**
 * The few file operations that every execution needs, as quick as the file system allows. On a local one they take some
 * 10 µs each, and handing them to another thread would cost several times that; on a network one they would hold up
 * everything else. So they are done at once on a file system of this machine as long as they have been quick, and handed
 * over otherwise: then a few at a time per directory, so that one that hangs leaves threads for the others.
 */

/** Of this process, which does not change it. */
const UMASK = process.umask();
/** An operation on a local file system takes far less time, one over a network far more. */
const SLOW_MS = 0.5;
/** A busy machine makes any single operation slow: most of so many have to be. */
const SAMPLES = 64;
const HAND_OVER_FOR_MS = 30_000;

// One measurement for the whole process: all its callers use the same file system.
const measured = perProcess(() => ({ isOverNetwork: false, samples: 0, slow: 0, handOverUntil: 0 }));

/** Whether other machines may write at a path, too, and how soon this one sees it is the mount's affair. */
const isOverNetwork = (path: string): boolean => measured().isOverNetwork || liesElsewhere(path);

/** Whether the files at a path lie on this machine: by what is mounted there, and how quick the file system has been lately. */
export const whereFilesAre = (path: string): 'here' | 'elsewhere' =>
  time.monotonic() < measured().handOverUntil || isOverNetwork(path) ? 'elsewhere' : 'here';

/** Looks whether the shared directory is on this machine: asking one elsewhere at once would stop the process meanwhile. */
export async function noteFileSystem(sharedDir: string): Promise<void> {
  noteRoot(sharedDir, await realpath(sharedDir));
  measured().isOverNetwork = (await fileSystemOf(sharedDir)) !== 'local';
}

/** Of this mode whatever the umask of the process. */
export async function createFile(path: string, text: string, mode: number): Promise<void> {
  await quickly(path, (files) => files.writeFile(path, text, { flag: 'wx', mode }));
  if ((mode & UMASK) !== 0) await quickly(path, (files) => files.chmod(path, mode));
}

/** Both paths are judged; it counts where it may hang. */
export const rename = (from: string, to: string) =>
  quickly(whereFilesAre(from) === 'elsewhere' ? from : to, (files) => files.rename(from, to));

export const unlink = (path: string) => quickly(path, (files) => files.unlink(path));

export const symlink = (target: string, path: string) => quickly(path, (files) => files.symlink(target, path));

export const lstat = (path: string) => quickly(path, (files) => files.lstat(path));

const LATELY_MS = 100;
const cachedLook = perProcess(() => shareFor(LATELY_MS, lstat, { failures: true }));

/**
 * The same for what is looked at for every call. Over a network one look serves all who ask within a moment: the mount itself
 * remembers what it saw for a second. On a disk of this machine each call looks itself, however slow the disk is: it must see a
 * release that was made just before.
 */
export const lstatCached = (path: string) => (isOverNetwork(path) ? cachedLook()(path) : lstat(path));

/** Whether something stands at a path. */
export const exists = (path: string) => quickly(path, (files) => files.exists(path));

/** Opens a file for reading. */
export const open = (path: string, flags: number) => quickly(path, (files) => files.open(path, flags));

/**
 * Runs an operation on `path` at once while the file system is quick, otherwise hands it over to another thread: a few at a time in
 * its directory.
 */
export async function quickly<T>(path: string, operation: (files: QuickFiles) => Promise<T>): Promise<T> {
  const files = filesOf();
  if (whereFilesAre(path) === 'elsewhere') return limitedByDirectory(dirname(path), () => operation(files));
  const startedAt = time.monotonic();
  const done = operation(files.atOnce);
  note(time.monotonic() - startedAt);
  return done;
}

/** Runs what follows an operation on an open file: where that is handed over, a few at a time in its directory, too. */
export const unhurried = <T>(path: string, operation: () => Promise<T>): Promise<T> =>
  whereFilesAre(path) === 'elsewhere' ? limitedByDirectory(dirname(path), operation) : operation();

function note(ms: number): void {
  const own = measured();
  own.samples++;
  if (ms > SLOW_MS) own.slow++;
  if (own.samples < SAMPLES) return;
  if (own.slow * 2 > own.samples) own.handOverUntil = time.monotonic() + HAND_OVER_FOR_MS;
  own.samples = 0;
  own.slow = 0;
}

import * as sync from 'node:fs';
import * as promises from 'node:fs/promises';
import { dirname } from 'node:path';
import { unless } from '../../shared/runtime/errno.ts';
import { shareFor } from '../../shared/runtime/share-for.ts';
import { inDirectory } from './directory-limit.ts';
import { fileSystemOf } from './file-system.ts';
import { liesElsewhere, noteRoot } from './mounts.ts';

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
let samples = 0;
let slow = 0;
let handOverUntil = 0;

/** Whether the files at a path lie on this machine: by what is mounted there, and how quick the file system has been lately. */
export const filesLie = (path: string): 'here' | 'elsewhere' =>
  performance.now() < handOverUntil || liesElsewhere(path) ? 'elsewhere' : 'here';

/** Looks whether the shared directory is on this machine: asking one elsewhere at once would stop the process meanwhile. */
export async function noteFileSystem(sharedDir: string): Promise<void> {
  noteRoot(sharedDir, await promises.realpath(sharedDir));
  if ((await fileSystemOf(sharedDir)) !== 'local') handOverUntil = performance.now() + HAND_OVER_FOR_MS;
}

/** Of this mode whatever the umask of the process. */
export async function createFile(path: string, text: string, mode: number): Promise<void> {
  const options = { flag: 'wx', mode };
  await quickly(
    path,
    () => sync.writeFileSync(path, text, options),
    () => promises.writeFile(path, text, options),
  );
  if ((mode & UMASK) === 0) return;
  await quickly(
    path,
    () => sync.chmodSync(path, mode),
    () => promises.chmod(path, mode),
  );
}

/** Both paths are judged; it counts where it may hang. */
export const rename = (from: string, to: string) =>
  quickly(
    filesLie(from) === 'elsewhere' ? from : to,
    () => sync.renameSync(from, to),
    () => promises.rename(from, to),
  );

export const unlink = (path: string) =>
  quickly(
    path,
    () => sync.unlinkSync(path),
    () => promises.unlink(path),
  );

export const symlink = (target: string, path: string) =>
  quickly(
    path,
    () => sync.symlinkSync(target, path),
    () => promises.symlink(target, path),
  );

export const lstat = (path: string) =>
  quickly(
    path,
    () => sync.lstatSync(path),
    () => promises.lstat(path),
  );

const LATELY_MS = 100;
const lookLately = shareFor(LATELY_MS, lstat, { failures: true });

/**
 * The same for what is looked at for every call. Elsewhere one look serves all who ask within a moment: the mount itself remembers
 * what it saw for a second.
 */
export const lstatLately = (path: string) => (filesLie(path) === 'elsewhere' ? lookLately(path) : lstat(path));

/** Whether something stands at a path. */
export const exists = (path: string) =>
  quickly(
    path,
    () => sync.lstatSync(path, { throwIfNoEntry: false }) !== undefined,
    () =>
      promises.lstat(path).then(
        () => true,
        (error) => unless('ENOENT', 'ENOTDIR')(error) ?? false,
      ),
  );

/** An open file, for reading. */
export type OpenFile = {
  stat(): Promise<sync.Stats>;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  close(): Promise<void>;
};

export const open = (path: string, flags: number): Promise<OpenFile> =>
  quickly<OpenFile>(
    path,
    () => opened(sync.openSync(path, flags)),
    () => promises.open(path, flags),
  );

function opened(descriptor: number): OpenFile {
  return {
    stat: async () => sync.fstatSync(descriptor),
    read: async (buffer, offset, length, position) => ({
      bytesRead: sync.readSync(descriptor, buffer, offset, length, position),
    }),
    close: async () => sync.closeSync(descriptor),
  };
}

/**
 * Runs an operation on `path` at once while the file system is quick, otherwise hands it over to another thread: a few at a time in
 * its directory.
 */
export async function quickly<T>(path: string, atOnce: () => T, handedOver: () => Promise<T>): Promise<T> {
  if (filesLie(path) === 'elsewhere') return inDirectory(dirname(path), handedOver);
  const startedAt = performance.now();
  try {
    return atOnce();
  } finally {
    note(performance.now() - startedAt);
  }
}

function note(ms: number): void {
  samples++;
  if (ms > SLOW_MS) slow++;
  if (samples < SAMPLES) return;
  if (slow * 2 > samples) handOverUntil = performance.now() + HAND_OVER_FOR_MS;
  samples = 0;
  slow = 0;
}

import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { perProcess } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { directoryOfClient, MADE_BY_US } from './file-names.ts';
import { exists, fileSystemOf, filesAt, lstat, READ_SAFELY } from './file-system.ts';
import { chmod, filesOf, mkdir, open, readdir, realpath, rm, rmdir, stat } from './ports/files.ts';
import type { FileStats, OpenDirectory, OpenFile, QuickFiles, Watch, WatchListener } from './ports/operations.ts';

/**
 * One directory below the shared one, of a client or of the workers. Names are those of its files. No operation follows a link that stands
 * in the place of the directory, or of one above it below the shared directory: it fails with ENOTDIR. Linux keeps the directory open and
 * does everything through its handle, so a link that takes its place later is never followed. Where there are no handles, the path is looked
 * at before, now and then, and after what goes to a client and comes from it: there a link is detected, not prevented.
 */
export type ClientDirectory = {
  readonly path: string;
  /** Whether it is there, or anything in its place. */
  isThere(): Promise<boolean>;
  /** Whether it has this file. */
  has(name: string): Promise<boolean>;
  /** What one of its files is, not following a link; without a name the directory itself. */
  stat(name?: string): Promise<FileStats>;
  list(): Promise<string[]>;
  /** Creates a file, of this mode whatever the umask; EEXIST where one is, unless it is replaced. */
  write(name: string, text: string, options?: { mode?: number; replaces?: boolean }): Promise<void>;
  /** Opens a file without following a link or waiting for a pipe, and closes it after `use`. */
  read<T>(name: string, use: (file: OpenFile) => Promise<T>): Promise<T>;
  rename(from: string, to: string): Promise<void>;
  /** Moves a file to a path in another directory of the workers. */
  moveTo(name: string, path: string): Promise<void>;
  /** False when it was not there. */
  remove(name: string): Promise<boolean>;
  /** Removes whatever has this name, also a directory with all that is in it. */
  removeAll(name: string): Promise<void>;
  /** Puts a file on the disk; without a name the names in the directory. */
  sync(name?: string): Promise<void>;
  /** Tells the names of what changes. Events may be late, lost or doubled; null where none would come. */
  watch(listener: WatchListener): Watch | null;
  /** Makes it, as open as what it is in; false when it was there. Throws `OutsideOfGroup`. */
  make(): Promise<boolean>;
  /** Removes it unless something is in it. */
  removeItself(): Promise<'removed' | 'in use'>;
};

/** Something in the way of a path below the shared directory: a link, a file where a directory belongs. */
export class ForeignPath extends Error {}

/** A directory that a worker cannot give to the group of its app, because the worker's user is not in that group. */
export class OutsideOfGroup extends Error {}

const MAX_DIRECTORIES = 2000;
/**
 * A directory that was looked at is taken to be still there, with the same mode and no link, for this long: one that was moved away, or replaced
 * by another one, is noticed within it.
 */
export const CHECKED_FOR_MS = 500;
const directories = perProcess(() => new LRUCache<string, ClientDirectory>({ max: MAX_DIRECTORIES }));

/** The directory at a path below a shared directory. */
export function directoryAt(path: string): ClientDirectory {
  const known = directories().get(path);
  if (known) return known;
  const directory = createDirectory(path);
  directories().set(path, directory);
  return directory;
}

const isGone = unless('ENOENT', 'ENOTDIR');
const orFalse = (error: unknown): false => isGone(error) ?? false;
const UMASK = process.umask();
/** File systems without a way to flush a directory. */
const CANNOT_FLUSH = ['EINVAL', 'ENOTSUP', 'ENOSYS'];

function createDirectory(path: string): ClientDirectory {
  const place = placeOf(path);
  const inside = <T>(use: Use<T>) => within(place, use);
  const readdirIn = (real: string) => readdir(real);

  return {
    path,
    isThere: () => exists(path),
    has: (name) => inside((real, files) => files.lstat(`${real}/${name}`)).then(() => true, orFalse),
    stat: (name) => inside((real, files) => (name === undefined ? stat(`${real}/.`) : files.lstat(`${real}/${name}`))),
    async list() {
      const names = await within(place, readdirIn);
      if (names.length > 0) return names;
      const handle = handles().get(path); // that of a directory that was removed shows no names
      if (handle) drop(place, handle);
      return within(place, readdirIn);
    },
    write: (name, text, { mode = 0o666, replaces = false } = {}) =>
      inside(async (real, files) => {
        await files.writeFile(`${real}/${name}`, text, { flag: replaces ? 'w' : 'wx', mode });
        if (mode !== 0o666 && (mode & UMASK) !== 0) await files.chmod(`${real}/${name}`, mode);
      }),
    async read(name, use) {
      const file = await inside((real, files) => files.open(`${real}/${name}`, READ_SAFELY));
      try {
        const value = await use(file);
        if (!fileSystemOf(path).hasHandles) await confirm(place);
        return value;
      } finally {
        file.close().catch(() => {}); // it was only read: nobody need wait
      }
    },
    async rename(from, to) {
      await inside((real, files) => files.rename(`${real}/${from}`, `${real}/${to}`));
      if (!fileSystemOf(path).hasHandles) await confirm(place);
    },
    moveTo: (name, to) => inside((real, files) => files.rename(`${real}/${name}`, to)),
    remove: (name) => inside((real, files) => files.unlink(`${real}/${name}`)).then(() => true, orFalse),
    removeAll: (name) => within(place, (real) => rm(`${real}/${name}`, { recursive: true, force: true })),
    sync: (name = '.') => within(place, (real) => flush(`${real}/${name}`)),
    // Setting up a watch is an operation of the main thread, and over a network no event tells what other machines do.
    watch: (listener) => (fileSystemOf(path).isLocal ? filesOf().watch(path, listener) : null),
    make: () => make(path),
    removeItself: () =>
      rmdir(path).then(
        () => 'removed',
        (error) =>
          (unless('ENOTEMPTY', 'EEXIST', 'ENOENT')(error) ?? errnoOf(error) === 'ENOENT') ? 'removed' : 'in use',
      ),
  };
}

/** Puts a file or a directory on the disk. */
export async function flush(path: string): Promise<void> {
  const file = await open(path, READ_SAFELY);
  try {
    await file.sync();
  } catch (error) {
    if (!CANNOT_FLUSH.includes(errnoOf(error))) throw error;
  } finally {
    await file.close();
  }
}

// Making directories.

/** Clients run under other users: a directory is as open as the one it is in, whatever the umask says. */
async function make(path: string): Promise<boolean> {
  if (!(await makeClosed(path))) return false;
  const wanted = (await stat(dirname(path))).mode & 0o7777;
  const modeOf = async (real: string) => (await stat(`${real}/.`)).mode & 0o7777;
  const widen = async (real: string) => {
    if ((await modeOf(real)) === wanted) return;
    await chmod(`${real}/.`, wanted);
    // If we are not in the directory's group, chmod clears setgid without an error (chmod(2)).
    if ((await modeOf(real)) === wanted) return;
    await rmdir(path);
    throw new OutsideOfGroup(`${dirname(path)} has a group in which this worker is not`);
  };
  await within(placeOf(path), widen).catch(unless('ENOENT'));
  return true;
}

/** Makes a directory with the mode that the umask gives it; false when it was there. */
async function makeClosed(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Whether a path exists as a directory reached without a link below the shared directory. */
export async function isRealDirectory(sharedDir: string, path: string): Promise<boolean> {
  const root = await realpath(sharedDir);
  const real = await realpath(path).catch(unless('ENOENT', 'ENOTDIR', 'ELOOP'));
  if (real === undefined) return false;
  if (real !== join(root, path.slice(sharedDir.length))) throw new ForeignPath(`${path} leads elsewhere, to ${real}`);
  return (await stat(real).catch(unless('ENOENT')))?.isDirectory() ?? false;
}

/** Other servers remove empty directories, also one that was made this moment: then it is made again. */
const MAKE_AT_MOST = 5;

/** The directories of clients below a shared one: found, or made. */
export function createClientDirectories(sharedDir: string) {
  const checked = new LRUCache<string, number>({ max: MAX_DIRECTORIES });

  /** While it looks, other calls rely on the previous look, if there was one. */
  async function isReal(path: string): Promise<boolean> {
    const startedAt = time.monotonic();
    if (checked.has(path)) checked.set(path, startedAt);
    const isThere = await isRealDirectory(sharedDir, path).catch((error) => {
      checked.delete(path);
      throw error;
    });
    if (isThere) checked.set(path, startedAt);
    else checked.delete(path);
    return isThere;
  }

  return {
    /** Something was missing in a directory that was there a moment ago: look again the next time. */
    forget: (path: string) => void checked.delete(path),

    /**
     * The path of a client's directory, made when it is missing. Throws `ForeignPath` when a link stands anywhere below the shared
     * directory: nothing outside may be written through a request.
     */
    async clientDirectory(app: number, directoryName: string, { mark = false } = {}): Promise<string> {
      const directory = directoryAt(directoryOfClient(sharedDir, { app, directoryName }));
      const { path } = directory;
      const checkedAt = checked.get(path) ?? Number.NEGATIVE_INFINITY;
      if (time.monotonic() - checkedAt < CHECKED_FOR_MS || (await isReal(path))) return path;
      for (let attempt = 0; attempt < MAKE_AT_MOST; attempt++) {
        await makeClosed(dirname(dirname(path)));
        await directoryAt(dirname(path)).make();
        if ((await directory.make()) && mark) await directory.write(MADE_BY_US, '').catch(unless('ENOENT', 'EEXIST'));
        if (await isRealDirectory(sharedDir, path)) return path;
      }
      throw new ForeignPath(`${path} is not a directory of its own`);
    },
  };
}

// Handles.

/** The root may be reached through links; what is below it may not. */
const BELOW_ROOT = /^(.*?)\/(mock(?:\/\d+(?:\/[^/]+)?)?|\.rule-server(?:\/[^/]+)*)$/s;
const MAX_HANDLES = 512;

/** A directory by its path, and by the shared directory and the names below it. */
type Place = { path: string; root: string; names: string[] };
type Handle = {
  opened: Promise<OpenDirectory>;
  /** Its path once it is open. */
  path: string | undefined;
  checkedAt: number;
  users: number;
  isDropped: boolean;
};

/** By the directory's path, the one opened first first. */
const handles = perProcess(() => new Map<string, Handle>());

function placeOf(path: string): Place {
  const [, root, names] = BELOW_ROOT.exec(path) ?? [];
  if (root === undefined || names === undefined) throw new Error(`${path} is not below a shared directory`);
  return { path, root, names: names.split('/') };
}

/** Something done in a directory; `real` is its path, `files` does what every execution needs. */
type Use<T> = (real: string, files: QuickFiles) => Promise<T>;

/** Runs `use` with a path that is this very directory, whatever is done to its name meanwhile. */
async function within<T>(place: Place, use: Use<T>): Promise<T> {
  const { hasHandles, isLocal } = fileSystemOf(place.path);
  const files = isLocal ? filesOf().atOnce : filesOf();
  if (!hasHandles) {
    await refuseLinks(place.root, place.names);
    return use(place.path, files);
  }
  const handle = enterKnown(place) ?? (await enter(place));
  try {
    return await use(handle.path ?? (await handle.opened).path, files);
  } catch (error) {
    if (!(await isRemoved(handle, error))) throw error;
    drop(place, handle);
  } finally {
    leave(handle);
  }
  const again = await enter(place);
  try {
    return await use((await again.opened).path, files);
  } finally {
    leave(again);
  }
}

/** The same as `enter`, without a wait: undefined unless the directory is open and was looked at a moment ago. */
function enterKnown({ path }: Place): Handle | undefined {
  const handle = handles().get(path);
  if (handle?.path === undefined || time.monotonic() - handle.checkedAt >= CHECKED_FOR_MS) return undefined;
  handle.users++;
  return handle;
}

/** The handle of a directory, counted as used until `leave`. */
async function enter(place: Place): Promise<Handle> {
  const handle = handles().get(place.path) ?? remember(place);
  handle.users++;
  try {
    const { stat: own } = await handle.opened;
    if (!handle.isDropped && (await isStillThere(place, handle, own))) return handle;
  } catch (error) {
    drop(place, handle);
    leave(handle);
    throw error;
  }
  drop(place, handle);
  leave(handle);
  return enter(place);
}

function remember({ path, root, names }: Place): Handle {
  const opened = openBelow(root, names);
  const handle: Handle = { opened, path: undefined, checkedAt: time.monotonic(), users: 0, isDropped: false };
  handles().set(path, handle);
  const note = (directory: OpenDirectory) => {
    handle.path = directory.path;
  };
  opened.then(note, () => {}); // whoever enters gets the error
  const [oldest] = handles();
  if (handles().size > MAX_HANDLES && oldest) drop({ path: oldest[0] }, oldest[1]);
  return handle;
}

/** Opens a directory name by name from the root, so that no link is followed. */
async function openBelow(root: string, names: string[]): Promise<OpenDirectory> {
  const files = filesAt([root, ...names].join('/'));
  let opened = await files.openDirectory(root || '/', { noFollow: false });
  for (const name of names) {
    const parent = opened;
    try {
      opened = await files.openDirectory(`${parent.path}/${name}`, { noFollow: true });
    } finally {
      parent.close().catch(() => {});
    }
  }
  return opened;
}

/**
 * Runs `use` with the path of a file that no link leads to, whatever is done to the names above it meanwhile: undefined where that cannot be
 * had. ENOTDIR or ENOENT where a link stands, or nothing.
 */
export async function withoutLinks<T>(root: string, names: string[], use: (path: string) => Promise<T>) {
  if (!fileSystemOf(root).hasHandles) return undefined;
  const opened = await openBelow(root, names.slice(0, -1));
  try {
    return await use(`${opened.path}/${names.at(-1)}`);
  } finally {
    await opened.close().catch(() => {});
  }
}

async function isStillThere({ path }: Place, handle: Handle, stat: () => Promise<FileStats>): Promise<boolean> {
  if (time.monotonic() - handle.checkedAt < CHECKED_FOR_MS) return true;
  handle.checkedAt = time.monotonic(); // one looks for all who use it at this moment
  const [named, own] = await Promise.all([lstat(path).catch(() => undefined), stat()]);
  return named?.ino === own.ino && named.dev === own.dev;
}

/** A directory that was removed has no name left, and nothing in it is found or can be made. */
async function isRemoved({ opened }: Handle, error: unknown): Promise<boolean> {
  const code = errnoOf(error);
  if (code !== 'ENOENT') return code === 'ESTALE';
  return (await (await opened).stat()).nlink === 0;
}

/** The next use opens the directory again. */
function drop({ path }: Pick<Place, 'path'>, handle: Handle): void {
  if (handles().get(path) === handle) handles().delete(path);
  if (handle.isDropped) return;
  handle.isDropped = true;
  if (handle.users === 0) close(handle);
}

function leave(handle: Handle): void {
  handle.users--;
  if (handle.isDropped && handle.users === 0) close(handle);
}

/** Only after the last use: from then on the system may give its number to another file. */
function close({ opened }: Handle): void {
  opened.then((directory) => directory.close()).catch(() => {});
}

// Where there are no handles.

/** When directories were last seen to be reached without a link. */
const seenAt = perProcess(() => new LRUCache<string, number>({ max: MAX_DIRECTORIES }));

/**
 * Without handles: throws ENOTDIR if a link may have led what was just done in a directory elsewhere. The directories above it are looked at every
 * `CHECKED_FOR_MS`: FUSE answers sooner looks at them from what it remembers.
 */
async function confirm({ path, root, names }: Place): Promise<void> {
  const look = async () => {
    await refuseLinks(root, names.slice(0, -1));
    await refuseLink(path);
  };
  await look().catch(unless('ENOENT')); // removed since
}

/** Looks at each part of a path, unless that was done a moment ago. */
async function refuseLinks(root: string, names: string[]): Promise<void> {
  const startedAt = time.monotonic();
  const directory = [root, ...names].join('/');
  if (startedAt - (seenAt().get(directory) ?? Number.NEGATIVE_INFINITY) < CHECKED_FOR_MS) return;
  let path = root;
  for (const name of names) {
    path += `/${name}`;
    await refuseLink(path);
  }
  seenAt().set(directory, startedAt);
}

async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
}

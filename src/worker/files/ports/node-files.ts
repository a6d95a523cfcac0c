import * as sync from 'node:fs';
import * as promises from 'node:fs/promises';
import { promisify } from 'node:util';
import { watch } from 'chokidar';
import { unless } from '../../../shared/runtime/errno.ts';
import type { Files, OpenDirectory, OpenFile, QuickFiles, WatchListener } from './operations.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = sync.constants;
const openLater = promisify(sync.open);
const statLater = promisify(sync.fstat);
const statAtOnce = async (descriptor: number) => sync.fstatSync(descriptor);
const closeLater = promisify(sync.close);

/** Linux shows there the files that a process has open. */
const HANDLES = '/proc/self/fd';
const MOUNT_LIST = '/proc/self/mountinfo';

/** Most of what is asked for is missing, and an error costs more than a look. */
function existsAtOnce(path: string): boolean {
  try {
    return sync.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return unless('ENOTDIR')(error) ?? false;
  }
}

/** An error with a stack of its own costs more than the look that found nothing. */
const MISSING = Object.assign(new Error('ENOENT: no such file or directory, lstat'), { code: 'ENOENT' });

function lstatAtOnce(path: string): sync.Stats {
  const found = sync.lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw MISSING;
  return found;
}

/** In the main thread. What fails rejects, as it does in the other threads. */
const atOnce: QuickFiles = {
  chmod: async (path, mode) => sync.chmodSync(path, mode),
  exists: async (path) => existsAtOnce(path),
  lstat: async (path) => lstatAtOnce(path),
  open: async (path, flags, mode) => openedAtOnce(sync.openSync(path, flags, mode)),
  openDirectory: async (path, { noFollow }) => openedDirectory(sync.openSync(path, flagsOf(noFollow)), statAtOnce),
  rename: async (from, to) => sync.renameSync(from, to),
  symlink: async (target, path) => sync.symlinkSync(target, path),
  unlink: async (path) => sync.unlinkSync(path),
  writeFile: async (path, text, options) => sync.writeFileSync(path, text, options),
};

/** The files of this machine, and what is mounted there. */
export const nodeFiles: Files = {
  access: (path, mode) => promises.access(path, mode),
  chmod: (path, mode) => promises.chmod(path, mode),
  exists: (path) =>
    promises.lstat(path).then(
      () => true,
      (error) => unless('ENOENT', 'ENOTDIR')(error) ?? false,
    ),
  lstat: (path) => promises.lstat(path),
  mkdir: (path, options) => promises.mkdir(path, options),
  open: async (path, flags, mode) => opened(await promises.open(path, flags, mode)),
  openDirectory: async (path, { noFollow }) => openedDirectory(await openLater(path, flagsOf(noFollow)), statLater),
  opendir: (path) => promises.opendir(path, { bufferSize: 4096 }),
  readdir: (path) => promises.readdir(path),
  readEntries: (path) => promises.readdir(path, { withFileTypes: true }),
  readFile: (path) => promises.readFile(path, 'utf8'),
  readlink: (path) => promises.readlink(path),
  realpath: (path) => promises.realpath(path),
  rename: (from, to) => promises.rename(from, to),
  rm: (path, options) => promises.rm(path, options),
  rmdir: (path) => promises.rmdir(path),
  stat: (path) => promises.stat(path),
  statfs: (path) => promises.statfs(path),
  symlink: (target, path) => promises.symlink(target, path),
  unlink: (path) => promises.unlink(path),
  writeFile: (path, text, options) => promises.writeFile(path, text, options),
  watch: (directory, listener) => watchRaw(directory, listener).on('error', listener.error),
  atOnce,
  mountList,
  hasHandles: process.platform === 'linux' && sync.existsSync(HANDLES),
};

function flagsOf(noFollow: boolean): number {
  return O_RDONLY | O_DIRECTORY | (noFollow ? O_NOFOLLOW : 0);
}

function opened(file: promises.FileHandle): OpenFile {
  return {
    stat: () => file.stat(),
    read: (buffer, offset, length, position) => file.read(buffer, offset, length, position),
    write: (text) => file.write(text),
    sync: () => file.sync(),
    close: () => file.close(),
  };
}

function openedAtOnce(descriptor: number): OpenFile {
  return {
    stat: async () => sync.fstatSync(descriptor),
    read: async (buffer, offset, length, position) => ({
      bytesRead: sync.readSync(descriptor, buffer, offset, length, position),
    }),
    write: async (text) => sync.writeSync(descriptor, text),
    sync: async () => sync.fsyncSync(descriptor),
    close: async () => sync.closeSync(descriptor),
  };
}

function openedDirectory(descriptor: number, stat: (descriptor: number) => Promise<sync.Stats>): OpenDirectory {
  return {
    path: `${HANDLES}/${descriptor}`,
    stat: () => stat(descriptor),
    close: () => closeLater(descriptor),
  };
}

/**
 * Only chokidar's raw events are used, with every file ignored: its own add and change events cost a listing of the directory
 * each, which a busy directory turns into a full core.
 */
function watchRaw(directory: string, { armed, event }: WatchListener) {
  const watcher = watch(directory, {
    depth: 0,
    ignoreInitial: true,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => path !== directory,
  });
  // Chokidar would also look at the file of each raw event, only to ignore it. That is half of what an event costs.
  watcher.on('ready', () => {
    watcher.isUnwatched = () => true;
    armed();
  });
  return watcher.on('raw', (_event, name) => {
    if (typeof name === 'string') event(name);
  });
}

/** Nothing on systems without it: there all lies where the shared directory lies. */
function mountList(): string {
  try {
    return sync.readFileSync(MOUNT_LIST, 'utf8');
  } catch {
    return '';
  }
}

import type { DiskSpace } from '../../../shared/runtime/disk-space.ts';

/** The part of Node's `Stats` that is used. */
export type FileStats = {
  dev: number;
  ino: number;
  mode: number;
  nlink: number;
  uid: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  isFIFO(): boolean;
};

/** A name in a folder, with what it stands for where the file system tells. */
export type Entry = Pick<FileStats, 'isFile' | 'isDirectory' | 'isSymbolicLink'> & { name: string };

/** An open file. */
export type OpenFile = {
  stat(): Promise<FileStats>;
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  write(text: string): Promise<unknown>;
  /** Puts it on the disk. */
  sync(): Promise<void>;
  close(): Promise<void>;
};

/** An open directory. `path` is this very directory, whatever is done to its name meanwhile. */
export type OpenDirectory = { path: string; stat(): Promise<FileStats>; close(): Promise<void> };

export type Watch = { close(): Promise<void> };
/** `armed`: the watch is set up, and what changed before is not told. */
export type WatchListener = { armed: () => void; event: (name: string) => void; error: (error: unknown) => void };
export type WriteOptions = { flag?: string; mode?: number; flush?: boolean };

/** The operations that every execution needs. They fail with the codes of POSIX. */
export type QuickFiles = {
  chmod(path: string, mode: number): Promise<void>;
  /** Whether something stands there; false also where a part of the path is missing. */
  exists(path: string): Promise<boolean>;
  lstat(path: string): Promise<FileStats>;
  open(path: string, flags: string | number, mode?: number): Promise<OpenFile>;
  /** Throws ELOOP or ENOTDIR where `path` itself is a link and `noFollow` is set. */
  openDirectory(path: string, options: { noFollow: boolean }): Promise<OpenDirectory>;
  rename(from: string, to: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  writeFile(path: string, text: string, options?: WriteOptions): Promise<void>;
};

/** The files of a process, by Node's names. Each operation resolves when it is done; one on a file server that is away may never be. */
export type Files = QuickFiles & {
  access(path: string, mode?: number): Promise<void>;
  mkdir(path: string, options?: { mode?: number }): Promise<unknown>;
  readdir(path: string): Promise<string[]>;
  readEntries(path: string): Promise<Entry[]>;
  /** The same, a few at a time. */
  opendir(path: string): Promise<AsyncIterable<Entry>>;
  readFile(path: string): Promise<string>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  rm(path: string, options: { recursive?: boolean; force?: boolean }): Promise<void>;
  rmdir(path: string): Promise<void>;
  stat(path: string): Promise<FileStats>;
  statfs(path: string): Promise<DiskSpace & { type: number }>;
  /** Tells the names of what changes in a directory. Events may be late, lost or doubled. */
  watch(directory: string, listener: WatchListener): Watch;
  /** The same operations in the main thread, which stands still meanwhile: for file systems of this machine. */
  atOnce: QuickFiles;
  /** The kernel's list of mounts (proc(5), mountinfo), empty where there is none. It is read without a look at any mount. */
  mountList(): string;
  /** Whether an open directory has a path of its own. */
  hasHandles: boolean;
};

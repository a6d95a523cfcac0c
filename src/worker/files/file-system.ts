import { constants } from 'node:fs';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { perProcess } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { fault } from '../../shared/reasons/causes.ts';
import {
  aLink,
  faultOfKind,
  type Reading,
  readingOfError,
  type Unreadable,
  unusable,
} from '../../shared/rules/reading.ts';
import { cached } from '../../shared/runtime/async.ts';
import { filesOf, opendir, readEntries, realpath } from './ports/files.ts';
import type { Entry, FileStats, OpenFile, QuickFiles } from './ports/operations.ts';

/**
 * The file systems that shared directories lie on, by the kernel's list of mounts: reading it looks at no mount, and a look at one whose
 * server is away does not come back. An operation on a local file system takes some 10 µs, and handing it to a thread several times that;
 * any other may hang, and would stop the process. So the main thread does them only while the shared directory lies on a local file system
 * with nothing else mounted below it; otherwise all of them are handed over.
 */
type FileSystem = {
  /** Operations end soon, and events tell what others change. */
  isLocal: boolean;
  /** An open directory has a path of its own. FUSE resolves the path again by itself. */
  hasHandles: boolean;
  /** The modes of files say who may write them. */
  hasRights: boolean;
};

/** What was seen is good for this long: a mount that was made since is not known before. */
const FRESH_FOR_MS = 100;
const LOCAL = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'bcachefs', 'tmpfs', 'ramfs', 'overlay']);
/** File systems that make up the rights of what lies there. */
const WITHOUT_RIGHTS = /^(?:fuse|cifs|smb|9p)/;

/** `below`: what the paths below it begin with. */
type Root = { real: string; below: string; fileSystem: FileSystem; staleAt: number };

/** Shared directories by their path. One process has one; tests have several. */
const roots = perProcess(() => new Map<string, Root>());

/** Before the shared directory was looked at. */
const unknown = (): FileSystem => ({ isLocal: false, hasHandles: filesOf().hasHandles, hasRights: true });

/** Makes a shared directory known by its path without links. */
export async function noteFileSystem(sharedDir: string): Promise<void> {
  const real = await realpath(sharedDir);
  if (roots().get(sharedDir)?.real !== real)
    roots().set(sharedDir, {
      real,
      below: `${sharedDir}/`,
      fileSystem: unknown(),
      staleAt: Number.NEGATIVE_INFINITY,
    });
}

/** The file system of the shared directory that a path is in. */
export function fileSystemOf(path: string): FileSystem {
  for (const [sharedDir, root] of roots()) {
    if (!path.startsWith(root.below) && path !== sharedDir) continue;
    if (time.monotonic() >= root.staleAt) {
      root.fileSystem = read(root.real);
      root.staleAt = time.monotonic() + FRESH_FOR_MS;
    }
    return root.fileSystem;
  }
  return unknown();
}

function read(real: string): FileSystem {
  const mounts = mountsOf(filesOf().mountList());
  const isIn = (path: string, mountPoint: string) =>
    path === mountPoint || path.startsWith(mountPoint.replace(/\/?$/, '/'));
  const below = mounts.filter(({ path }) => path !== real && isIn(path, real));
  // Of several at one path the last one hides the others.
  const own = mounts.filter(({ path }) => isIn(real, path)).reduce<Mount | undefined>(longer, undefined);
  const types = [own?.type ?? '', ...below.map(({ type }) => type)];
  return {
    isLocal: own !== undefined && LOCAL.has(own.type) && below.length === 0,
    hasHandles: filesOf().hasHandles && !types.some((type) => type.startsWith('fuse')),
    hasRights: !types.some((type) => WITHOUT_RIGHTS.test(type)),
  };
}

type Mount = { path: string; type: string };

const longer = (found: Mount | undefined, other: Mount): Mount =>
  found === undefined || other.path.length >= found.path.length ? other : found;

function mountsOf(list: string): Mount[] {
  return list.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ');
    const path = before.split(' ')[4];
    const [type = ''] = after.split(' ');
    return path === undefined ? [] : [{ path: unescaped(path), type }];
  });
}

/** proc(5): space, tab, line feed and backslash are written as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** The operations that every execution needs, in the main thread or handed over, by where a path is. */
export const filesAt = (path: string): QuickFiles => (fileSystemOf(path).isLocal ? filesOf().atOnce : filesOf());

export const lstat = (path: string) => filesAt(path).lstat(path);
/** Whether something stands at a path. */
export const exists = (path: string) => filesAt(path).exists(path);

const cachedLstat = perProcess(() => cached(FRESH_FOR_MS, lstat, { failures: true }));

/**
 * The same for what is looked at for every call. Over a network one look serves all who ask within a moment: the mount itself remembers what
 * it saw for a second. On a local file system each call looks itself: it must see a release that was made just before.
 */
export const lstatCached = (path: string) => (fileSystemOf(path).isLocal ? lstat(path) : cachedLstat()(path));

/**
 * The entries of a folder, one after the other, so that a folder full of files does not fill the memory. sshfs does not tell
 * what its entries are, and Node would look at each of them in the main thread; so over a network all of them are read first.
 */
export function entriesIn(path: string): Promise<AsyncIterable<Entry> | Iterable<Entry>> {
  return fileSystemOf(path).isLocal ? opendir(path) : readEntries(path);
}

/** Follows no link, and does not wait at a pipe: that would block one of the few threads for ever. */
export const READ_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type Readable = {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
};

/** The first bytes of a file: `atMost` at most. What was not there at first is for the next look. */
export async function readUpTo(file: Readable, atMost: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(atMost);
  let length = 0;
  while (length < atMost) {
    const { bytesRead } = await file.read(buffer, length, atMost - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/**
 * The text of one regular file of at most `maxBytes` bytes. Links, directories, pipes and devices are `unusable`: nothing
 * is followed, and nothing can make the reader wait.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<Reading<string>> {
  let file: OpenFile | undefined;
  try {
    file = await filesAt(path).open(path, READ_SAFELY);
    return await readWhole(file, maxBytes);
  } catch (error) {
    return readingOfError(error);
  } finally {
    await file?.close();
  }
}

/** The same of a file that is open. */
export async function readWhole(file: OpenFile, maxBytes: number): Promise<Reading<string>> {
  const stats = await file.stat();
  return refusal(stats, maxBytes) ?? (await readText(file, stats.size));
}

/** Why a file may not be read, judged from its stats alone. */
export function refusal(stats: FileStats, maxBytes: number): Unreadable | undefined {
  if (stats.isSymbolicLink()) return aLink;
  const found = faultOfKind(stats);
  if (found !== null) return unusable(found);
  return stats.size > maxBytes ? unusable(fault('too-large', { maxBytes })) : undefined;
}

async function readText(file: OpenFile, size: number): Promise<Reading<string>> {
  const bytes = await readUpTo(file, size + 1);
  if (bytes.length !== size) return unusable(fault('changing', {}));
  const decoded = decodeWhole(bytes);
  return decoded.kind === 'text' ? { kind: 'found', value: decoded.text } : unusable(decoded.fault);
}

import { perProcess } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { cached } from '../../shared/runtime/async.ts';
import { filesOf, realpath } from './ports/files.ts';
import type { QuickFiles } from './ports/operations.ts';

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

/** A mount that was made since is not known for this long at the most. */
const FRESH_FOR_MS = 100;
const LOCAL = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'bcachefs', 'tmpfs', 'ramfs', 'overlay']);
/** File systems that make up the rights of what lies there. */
const WITHOUT_RIGHTS = /^(?:fuse|cifs|smb|9p)/;

type Root = { real: string; fileSystem: FileSystem; staleAt: number };

/** Shared directories by their path. One process has one; tests have several. */
const roots = perProcess(() => new Map<string, Root>());

/** Before the shared directory was looked at. */
const unknown = (): FileSystem => ({ isLocal: false, hasHandles: filesOf().hasHandles, hasRights: true });

/** Makes a shared directory known by its path without links. */
export async function noteFileSystem(sharedDir: string): Promise<void> {
  const real = await realpath(sharedDir);
  if (roots().get(sharedDir)?.real !== real)
    roots().set(sharedDir, { real, fileSystem: unknown(), staleAt: Number.NEGATIVE_INFINITY });
}

/** The file system of the shared directory that a path is in. */
export function fileSystemOf(path: string): FileSystem {
  for (const [sharedDir, root] of roots()) {
    if (path !== sharedDir && !path.startsWith(`${sharedDir}/`)) continue;
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

const LATELY_MS = 100;
const cachedLstat = perProcess(() => cached(LATELY_MS, lstat, { failures: true }));

/**
 * The same for what is looked at for every call. Over a network one look serves all who ask within a moment: the mount itself remembers what
 * it saw for a second. On a local file system each call looks itself: it must see a release that was made just before.
 */
export const lstatCached = (path: string) => (fileSystemOf(path).isLocal ? lstat(path) : cachedLstat()(path));

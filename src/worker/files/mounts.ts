import { perProcess } from '../../shared/seams/process.ts';
import { time } from '../../shared/seams/time.ts';
import { nameOf } from './directory/handle-names.ts';
import { filesOf } from './seams/files.ts';

/**
 * What is mounted below a shared directory. The kernel's list of mounts tells it without a look at any of them: a look at a mount
 * whose server is away does not come back. When a mount hangs:
 * - A file operation in the main thread does not go where a file system lies that is not local (here, asked by `quick-files.ts`), and such a
 *   directory is not watched (`directory/directory-events.ts`). One that was slow once is left to threads for a while.
 * - Operations in threads are few for each directory and each mount, so that other clients have threads left
 *   (`directory/directory-limit.ts`, `rules/config-files.ts`; `bin/rule-server.js` makes 64 of them). A look that takes more than a second
 *   holds up no other (`directory/directory-looks.ts`).
 * - Rules that cannot be read for 5 s are not checked before a dispatch (`placement/inspections.ts`).
 * - A wait ends 4 s after its deadline, whatever its directory does (`execution/drive.ts`).
 * - Where the shared directory itself hangs for 3 s, this worker takes no jobs and hands over those it has (`process/check-directory.ts`).
 * - `/readyz` of the worker names the directories that hang.
 */

/** The list is read again when it is older, or older than 100 times what reading it took: about 1 % of the time. */
const FRESH_FOR_MS = 10;
const COST_FACTOR = 100;
/** A busy machine may have held up that one read: a mount that was made since is not known for this long at the most. */
const FRESH_AT_MOST_MS = 100;
/** File systems on a disk or in the memory of this machine: an operation there ends soon. */
const LOCAL = new Set(['ext2', 'ext3', 'ext4', 'xfs', 'btrfs', 'zfs', 'f2fs', 'bcachefs', 'tmpfs', 'ramfs', 'overlay']);

type Mount = { path: string; type: string };

type Known = {
  mounts: Mount[];
  staleAt: number;
  /** Shared directories, by the path they are used under, and the path without links that the kernel lists. */
  roots: Map<string, string>;
};

const known = perProcess((): Known => ({ mounts: [], staleAt: Number.NEGATIVE_INFINITY, roots: new Map() }));

/** Mounts below `sharedDir`, whose path without links is `real`, are known from now on. */
export function noteRoot(sharedDir: string, real: string): void {
  const own = known();
  if (own.roots.get(sharedDir) === real) return;
  own.roots.set(sharedDir, real);
  own.staleAt = Number.NEGATIVE_INFINITY;
}

/** The type of the file system that is mounted at or above a path, below its shared directory; null when there is none. */
export const mountedAt = (path: string): string | null => mountOf(path)?.type ?? null;

/** The mount point at or above a path, below its shared directory, of a file system that may be slow or away; null when there is none. */
export function mountPointOf(path: string): string | null {
  const mount = mountOf(path);
  return mount && !LOCAL.has(mount.type) ? mount.path : null;
}

function mountOf(path: string): Mount | undefined {
  const own = known();
  if (time.monotonic() >= own.staleAt) readMounts(own);
  const { mounts } = own;
  if (mounts.length === 0) return undefined;
  const name = nameOf(path);
  // A mount inside another one comes later in the list.
  return mounts.findLast((mount) => name === mount.path || name.startsWith(`${mount.path}/`));
}

/** Whether a path lies on another file system than its shared directory, and one that may be slow or away. */
export const liesElsewhere = (path: string): boolean => mountPointOf(path) !== null;

function readMounts(own: Known): void {
  const startedAt = time.monotonic();
  own.mounts = [];
  for (const line of filesOf().mountList().split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const real = unescaped(before.split(' ')[4] ?? '');
    const [type = ''] = after.split(' ');
    for (const [sharedDir, root] of own.roots)
      if (real.startsWith(`${root}/`)) own.mounts.push({ path: sharedDir + real.slice(root.length), type });
  }
  const endedAt = time.monotonic();
  own.staleAt = endedAt + Math.min(FRESH_AT_MOST_MS, Math.max(FRESH_FOR_MS, COST_FACTOR * (endedAt - startedAt)));
}

/** proc(5): space, tab, line feed and backslash are written as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

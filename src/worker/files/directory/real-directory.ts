import { dirname } from 'node:path';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { perProcess } from '../../../shared/seams/process.ts';
import { time } from '../../../shared/seams/time.ts';
import { fileSystemOf } from '../file-system.ts';
import { mountedAt } from '../mounts.ts';
import { quickly, whereFilesAre } from '../quick-files.ts';
import { filesOf, lstat } from '../seams/files.ts';
import type { OpenDirectory } from '../seams/operations.ts';
import { limitedByDirectory } from './directory-limit.ts';
import { nameHandle } from './handle-names.ts';

/**
 * Directories that are reached without a link. Linux keeps one open and does everything through its handle, so that a link
 * that takes a directory's place later is never followed. Where there are no handles, or where a file system resolves the
 * path again by itself (FUSE), the path is looked at now and then, and after what goes to the client and comes from it
 * (`confirm`): there a link is detected, not prevented.
 */

/** The root may be reached through links; what is below it may not. */
const BELOW_ROOT = /^(.*?)\/(mock(?:\/\d+(?:\/[^/]+)?)?|\.rule-server(?:\/[^/]+)*)$/s;
const MAX_HANDLES = 512;
/** A directory that was moved away and replaced by another one, or by a link, is noticed within this time. */
const CHECK_EVERY_MS = 500;

type Handle = OpenDirectory & { checkedAt: number; users: number; dropped: boolean };
type Opened = Promise<Handle>;

const handles = perProcess(() => new Map<string, Opened>());
const openings = perProcess(() => new WeakMap<Handle, Opened>());

/** Runs `use` with a path that is this very directory, whatever is done to its name meanwhile. ENOTDIR where a link stands. */
export async function throughHandle<T>(directory: string, use: (path: string) => Promise<T>): Promise<T> {
  const [, root, names] = BELOW_ROOT.exec(directory) ?? [];
  if (root === undefined || names === undefined) throw new Error(`${directory} is not below a shared directory`);
  if (!(await hasHandles(directory, root))) {
    await refuseLinks(root, names, CHECK_EVERY_MS);
    return use(directory);
  }
  const handle = await enter(directory, root, names);
  try {
    return await use(handle.path);
  } catch (error) {
    if (!(await isRemoved(handle, error))) throw error;
    drop(directory, handle);
  } finally {
    await leave(handle);
  }
  const again = await enter(directory, root, names);
  try {
    return await use(again.path);
  } finally {
    await leave(again);
  }
}

/** The names in a directory. The handle of a removed directory shows none, so an empty one is looked at twice. */
export async function namesIn(directory: string, list: (path: string) => Promise<string[]>): Promise<string[]> {
  const names = await throughHandle(directory, list);
  if (names.length > 0) return names;
  const handle = await handles().get(directory);
  if (handle) drop(directory, handle);
  return throughHandle(directory, list);
}

async function hasHandles(directory: string, root: string): Promise<boolean> {
  if (!filesOf().hasHandles || mountedAt(directory)?.startsWith('fuse')) return false;
  return (await fileSystemOf(root)) !== 'FUSE';
}

async function enter(directory: string, root: string, names: string): Promise<Handle> {
  const known = handles().get(directory);
  const handle = await (known ?? remember(directory, walk(root, names.split('/'))));
  if (handle.dropped) return enter(directory, root, names);
  handle.users++;
  if (await isStillThere(directory, handle)) return handle;
  drop(directory, handle);
  await leave(handle);
  return enter(directory, root, names);
}

function remember(directory: string, opened: Promise<Handle>): Promise<Handle> {
  handles().set(directory, opened);
  opened.then(
    (handle) => openings().set(handle, opened),
    () => forget(directory, opened),
  );
  const [oldest] = handles();
  if (handles().size > MAX_HANDLES && oldest) {
    const [path, handle] = oldest;
    handle.then((unused) => drop(path, unused)).catch(() => {});
  }
  return opened;
}

async function walk(root: string, names: string[]): Promise<Handle> {
  return { ...(await openBelow(root, names)), checkedAt: time.monotonic(), users: 0, dropped: false };
}

/** Opens a directory name by name from the root, so that no link is followed: at once where it lies on this machine. */
async function openBelow(root: string, names: string[]): Promise<OpenDirectory> {
  const directory = [root, ...names].join('/');
  const isHere = whereFilesAre(directory) === 'here';
  const files = isHere ? filesOf().atOnce : filesOf();
  const openAll = async (): Promise<OpenDirectory> => {
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
  };
  const opened = await (isHere ? openAll() : limitedByDirectory(directory, openAll));
  nameHandle(opened.path, directory);
  return opened;
}

/**
 * Runs `use` with the path of a file that no link leads to, whatever is done to the names above it meanwhile: undefined where that cannot be
 * had. ENOTDIR or ENOENT where a link stands, or nothing.
 */
export async function withoutLinks<T>(root: string, names: string[], use: (path: string) => Promise<T>) {
  if (!(await hasHandles([root, ...names].join('/'), root))) return undefined;
  const opened = await openBelow(root, names.slice(0, -1));
  try {
    return await use(`${opened.path}/${names.at(-1)}`);
  } finally {
    await close(opened);
  }
}

async function isStillThere(directory: string, handle: Handle): Promise<boolean> {
  if (time.monotonic() - handle.checkedAt < CHECK_EVERY_MS) return true;
  handle.checkedAt = time.monotonic(); // one looks for all who use it at this moment
  const look = () => Promise.all([lstat(directory).catch(() => undefined), handle.stat()]);
  const [named, own] = await limitedByDirectory(directory, look);
  return named?.ino === own.ino && named.dev === own.dev;
}

/** A directory that was removed has no name left, and nothing in it is found or can be made. */
async function isRemoved({ path, stat }: Handle, error: unknown): Promise<boolean> {
  const code = errnoOf(error);
  if (code !== 'ENOENT') return code === 'ESTALE';
  const { nlink } = await quickly(`${path}/.`, stat);
  return nlink === 0;
}

/** Unless another one took its place since. */
function forget(directory: string, opened: Opened | undefined): void {
  if (handles().get(directory) === opened) handles().delete(directory);
}

function drop(directory: string, handle: Handle): void {
  if (handle.dropped) return;
  handle.dropped = true;
  forget(directory, openings().get(handle));
  if (handle.users === 0) void close(handle);
}

/** Closed only after the last use: from then on the system may give its number to another file. */
async function leave(handle: Handle): Promise<void> {
  handle.users--;
  if (handle.dropped && handle.users === 0) await close(handle);
}

async function close({ path, close: closeHandle }: OpenDirectory): Promise<void> {
  nameHandle(path, null);
  await closeHandle().catch(() => {});
}

/**
 * Throws ENOTDIR if a link may have led what was just done in a directory elsewhere. The directories above it are looked at every
 * `CHECK_EVERY_MS`: FUSE answers sooner looks at them from what it remembers.
 */
export async function confirm(directory: string): Promise<void> {
  const [, root, names] = BELOW_ROOT.exec(directory) ?? [];
  if (root === undefined || names === undefined || (await hasHandles(directory, root))) return;
  const look = async () => {
    await refuseLinks(root, dirname(names), CHECK_EVERY_MS);
    await limitedByDirectory(directory, () => refuseLink(directory));
  };
  await look().catch(unless('ENOENT')); // removed since
}

/** When directories without handles were last seen to be reached without a link. */
const seenAt = perProcess(() => new Map<string, number>());

/** Looks at each part of a path, unless that was done in the last `withinMs`. */
async function refuseLinks(root: string, names: string, withinMs: number): Promise<void> {
  const directory = `${root}/${names}`;
  const startedAt = time.monotonic();
  if (startedAt - (seenAt().get(directory) ?? Number.NEGATIVE_INFINITY) < withinMs) return;
  await limitedByDirectory(directory, () => refuseLinksBelow(root, names.split('/')));
  seenAt().delete(directory);
  seenAt().set(directory, startedAt);
  const [oldest] = seenAt().keys();
  if (seenAt().size > MAX_HANDLES && oldest !== undefined) seenAt().delete(oldest);
}

async function refuseLinksBelow(root: string, names: string[]): Promise<void> {
  let path = root;
  for (const name of names) {
    path += `/${name}`;
    await refuseLink(path);
  }
}

async function refuseLink(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw Object.assign(new Error(`${path} is not a directory`), { code: 'ENOTDIR' });
}

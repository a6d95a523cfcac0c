import { constants } from 'node:fs';
import { join } from 'node:path';
import { processName, random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { causeOf, type Fault, fault } from '../../shared/reasons/causes.ts';
import { retry, SOON_MS, within } from '../../shared/runtime/async.ts';
import { usedUp } from '../../shared/runtime/disk-space.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { RegisteredDirectory } from '../../shared/store/registered-directory.ts';
import { createClientDirectories } from './client-directory.ts';
import { privateDirectory } from './file-names.ts';
import { exists, fileSystemOf, noteFileSystem } from './file-system.ts';
import { access, chmod, lstat, mkdir, open, readFile, rename, rm, stat, statfs, writeFile } from './ports/files.ts';
import type { FileStats, OpenFile } from './ports/operations.ts';
import { isFull } from './reasons.ts';

/**
 * Everything else is below one of these: removing, claiming and keeping answers go through them without checking each path.
 */
const OWN_AND_NEVER_LINKS = [
  '.rule-server',
  '.rule-server/answers',
  '.rule-server/claims',
  '.rule-server/clocks',
  '.rule-server/pick-ups',
  'mock',
];
/** One that takes longer may hang: what no answer needs goes on without it. */
export const MAY_HANG_MS = 1000;
/** One that does not respond for this long is not there for this worker. */
export const HANGS_AFTER_MS = 3000;
/** The folders that a worker must be able to write; it makes those that are missing. */
const WRITTEN = ['.rule-server', '.rule-server/claims', '.rule-server/answers', 'mock'];
/** Where the published server keeps its register of apps, which no client reads. */
const REGISTER_OF_APPS = 'apps';

/** The shared directory itself: whether it is the right one, what time it thinks it is, and directories for clients. */
export function createSharedDirectory(options: IdentityOptions) {
  const { sharedDir } = options;
  const clock = createFileClock(sharedDir);
  const identity = createIdentity(options);
  const space = createFreeSpace(sharedDir);
  let found: Fault | null = null;
  let [hasOtherServer, isReplaceable] = [false, false];
  const isThere = (): Promise<boolean> =>
    refuseStrangers(sharedDir, clock.ownUid())
      .then(identity.isOwn)
      .catch(() => false);

  return {
    sharedDir,
    ...createClientDirectories(sharedDir),

    /** The time by its file system. */
    clock,

    /**
     * Throws `UnusableSharedDirectory` unless this is the directory that the queue's other workers use, and this one may
     * write it. To be called every second: once the right one is there again, it passes.
     */
    async check(): Promise<void> {
      try {
        await examine();
        found = null;
      } catch (error) {
        if (error instanceof UnusableSharedDirectory) found = error.fault;
        throw error;
      }
    },

    /** Why it could not be used, as of the last check. */
    fault: () => found,
    whyFull: space.whyFull,

    /** Whether other users may put another folder in the place of one at the root; as of the last check. */
    isReplaceable: () => isReplaceable,

    /** Whether the published server uses this directory too. It removes directories of clients whenever they are empty. */
    hasOtherServer: () => hasOtherServer,

    /** Whether the directory this worker started with is there. While it is not, nothing that is missing means anything. */
    isThere,
    async mustBeThere(): Promise<void> {
      if (!(await isThere())) throw new Error('SHARED_DIR is not there');
    },
  };

  async function examine(): Promise<void> {
    const found = await statOf(sharedDir);
    await noteFileSystem(sharedDir).catch(notUsable);
    await refuseStrangers(sharedDir, clock.ownUid());
    await identity.check();
    hasOtherServer = await exists(join(sharedDir, REGISTER_OF_APPS)).catch(notUsable);
    await refuseUnwritable(sharedDir, clock);
    await space.update();
    isReplaceable = mayBeReplaced(found, clock.ownUid());
  }
}

async function statOf(sharedDir: string): Promise<FileStats> {
  const found = await stat(sharedDir).catch((error) => {
    throw new UnusableSharedDirectory(fault('dir-missing', { errno: errnoOf(error) }));
  });
  if (!found.isDirectory()) throw new UnusableSharedDirectory(fault('dir-no-directory', {}));
  return found;
}

/**
 * Throws if a link stands in the place of a folder, or if somebody else owns one of the workers' own: its owner could remove claims,
 * and a rule would run twice. `ownUid`: undefined while it is not known.
 */
async function refuseStrangers(sharedDir: string, ownUid: number | undefined): Promise<void> {
  for (const name of OWN_AND_NEVER_LINKS) {
    const found = await lstat(join(sharedDir, name)).catch(unless('ENOENT', 'ENOTDIR')).catch(notUsable);
    if (found?.isSymbolicLink()) throw new UnusableSharedDirectory(fault('dir-link', { place: name }));
    if (found && name !== 'mock' && ownUid !== undefined && found.uid !== ownUid)
      throw new UnusableSharedDirectory(fault('dir-of-another', { place: name, owner: found.uid, user: ownUid }));
  }
}

/** Whether somebody else may rename what is at the root of the shared directory. */
function mayBeReplaced({ uid, mode }: FileStats, ownUid: number | undefined): boolean {
  return (uid !== 0 && uid !== ownUid) || ((mode & MAY_WRITE) !== 0 && (mode & STICKY) === 0);
}

const MAY_WRITE = 0o022;
const STICKY = 0o1000;

/** Closes the workers' own folder, whatever umask it was made with, and throws if others may still write it. */
async function closeToOthers(sharedDir: string): Promise<void> {
  const path = privateDirectory(sharedDir);
  const isOpen = async (bits: number) => ((await stat(path).catch(notUsable)).mode & bits) !== 0;
  if (!(await isOpen(0o077))) return;
  await chmod(path, 0o700).catch(() => {});
  if (!fileSystemOf(sharedDir).hasRights || !(await isOpen(MAY_WRITE))) return;
  throw new UnusableSharedDirectory(fault('dir-open', {}));
}

/** Tries it out, since rights can be missing or the mount can be read-only for this worker alone. */
async function refuseUnwritable(sharedDir: string, clock: FileClock): Promise<void> {
  await closeToOthers(sharedDir);
  await clock.touch().catch((error) => void (isFull(error) || notWritable('.rule-server', error)));
  for (const name of WRITTEN) {
    const mayWrite = access(join(sharedDir, name), constants.W_OK | constants.X_OK);
    await mayWrite.catch(unless('ENOENT')).catch((error) => notWritable(name, error));
  }
  await refuseStrangers(sharedDir, clock.ownUid());
}

function notWritable(name: string, error: unknown): never {
  throw new UnusableSharedDirectory(fault('dir-unwritable', { place: name, errno: errnoOf(error) }));
}

export type SharedDirectory = ReturnType<typeof createSharedDirectory>;

// Its identity.

/** A file that was not there, on the disk before it counts as written. */
const NEW = { flag: 'wx', flush: true };

/** Why a worker may not take jobs. It goes out over HTTP, so it names no path. */
export class UnusableSharedDirectory extends Error {
  readonly fault: Fault;
  constructor(found: Fault) {
    super(causeOf(found));
    this.fault = found;
  }
}

type IdentityOptions = {
  sharedDir: string;
  registered: RegisteredDirectory;
  /** The queue knew of no directory, and this one had no identity: it has one now. */
  onNewIdentity?: (id: string) => void;
};

/** Whether the shared directory is the one that the workers of the queue use: an unmounted volume looks like an empty directory. */
function createIdentity({ sharedDir, registered, onNewIdentity = () => {} }: IdentityOptions) {
  let ownId: string | undefined;

  function notTheSame(found: string | undefined, right: string | undefined): UnusableSharedDirectory {
    const params = { right: `${right}`, why: registered.toReplace };
    return new UnusableSharedDirectory(
      found === undefined ? fault('dir-empty', params) : fault('dir-wrong', { ...params, found }),
    );
  }

  return {
    /** Throws unless it is. The first worker of a queue makes an identity where there is none. */
    async check(): Promise<void> {
      const found = await readId(sharedDir);
      const known = await registered.get();
      const id = found ?? (known === null && ownId === undefined ? await createId(sharedDir) : undefined);
      // If the queue store lost its data, a worker registers only the directory that was the right one before.
      const mayRegister = id !== undefined && (ownId ?? id) === id;
      const right = known ?? (mayRegister ? await registered.register(id) : ownId);
      if (id === undefined || id !== right) throw notTheSame(found, right);
      ownId = id;
      if (found === undefined) onNewIdentity(id);
    },
    /** Whether it is the one of the last check that passed. */
    isOwn: async (): Promise<boolean> => ownId !== undefined && (await readId(sharedDir)) === ownId,
  };
}

/** The id of a shared directory, in a file of it; undefined while it has none. */
async function readId(sharedDir: string): Promise<string | undefined> {
  return (await readFile(idPath(sharedDir)).catch(unless('ENOENT')).catch(notUsable))?.trim() || undefined;
}

/** Gives the directory an id unless another worker was first, and resolves to the one it has. */
async function createId(sharedDir: string): Promise<string | undefined> {
  await mkdir(privateDirectory(sharedDir), { mode: 0o700 }).catch(unless('EEXIST')).catch(notUsable);
  await writeFile(idPath(sharedDir), random.uuid(), NEW).catch(unless('EEXIST')).catch(notUsable);
  const id = await readSoon(sharedDir);
  if (id) return id;
  // It is empty: the machine went down while it was written.
  const own = `${idPath(sharedDir)}.${random.uuid()}`;
  await writeFile(own, random.uuid(), NEW).catch(notUsable);
  await rename(own, idPath(sharedDir)).catch(notUsable);
  return readSoon(sharedDir);
}

/** Another worker may have been first and be in the middle of writing. */
async function readSoon(sharedDir: string): Promise<string | undefined> {
  return retry(async () => (await readId(sharedDir)) || undefined, { goOn: within(1000), everyMs: SOON_MS });
}

function notUsable(error: unknown): never {
  throw new UnusableSharedDirectory(fault('dir-unusable', { errno: errnoOf(error) }));
}

function idPath(sharedDir: string): string {
  return join(privateDirectory(sharedDir), 'id');
}

// Its free space.

/** Where clients write; each may be a mount of its own. */
const WRITTEN_BY_CLIENTS = ['', 'clients', 'mock'];

/**
 * Whether files can be made in the shared directory. A full disk is full for every worker and every client, so workers go on taking
 * jobs: their callers are told at once, and all goes on as soon as there is room.
 */
function createFreeSpace(sharedDir: string) {
  let full: { why: Fault; seenAt: number; isNow: boolean } | undefined;
  return {
    async update(): Promise<void> {
      const why = (await sayNumbers(sharedDir)) ?? (await tryNewFile(sharedDir));
      if (why !== null) full = { why, seenAt: time.monotonic(), isNow: true };
      else if (full) full.isNow = false;
    },
    /** Why no file can be made, as of the last check, or as of any within `lately` ms. */
    whyFull: (lately = 0): Fault | null =>
      full && (full.isNow || time.monotonic() - full.seenAt < lately) ? full.why : null,
  };
}

/** Root may fill what other users no longer can: only the numbers tell. */
async function sayNumbers(sharedDir: string): Promise<Fault | null> {
  for (const name of WRITTEN_BY_CLIENTS) {
    const found = await statfs(join(sharedDir, name)).catch(unless('ENOENT')).catch(notUsable);
    const left = found && usedUp(found);
    if (left) return fault(`dir-without-${left}`, { place: join('SHARED_DIR', name) });
  }
  return null;
}

/** Of a quota only a new file tells: an old one has its room already. */
async function tryNewFile(sharedDir: string): Promise<Fault | null> {
  const path = join(privateDirectory(sharedDir), `.room-${processName()}`);
  try {
    await writeFile(path, '0', { flag: 'wx' }).catch(unless('EEXIST'));
    return null;
  } catch (error) {
    return isFull(error) ? fault(errnoOf(error) === 'EDQUOT' ? 'dir-over-quota' : 'dir-full', {}) : null;
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}

// Its clock.

/** A link that was put here must not empty a file elsewhere, and a pipe must not make a worker wait. */
const TOUCH = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type FileClock = ReturnType<typeof createFileClock>;

/**
 * The folder in which each worker has a file: its text is the time by the worker's clock, its mtime that of the file system's.
 */
const clocksDirectory = (sharedDir: string) => join(privateDirectory(sharedDir), 'clocks');

/**
 * The time by the shared directory's file system, which is the same for all workers, whatever their own clocks say. It is
 * read off a file that was just written; between two touches this process's monotonic clock carries it on.
 */
export function createFileClock(sharedDir: string) {
  const folder = clocksDirectory(sharedDir);
  const path = join(folder, processName().replace(/[^\w.-]/g, '_'));
  let last: { fileMs: number; at: number } | undefined;
  let uid: number | undefined;

  const now = () => (last ? last.fileMs + time.monotonic() - last.at : time.now());

  async function openFile(): Promise<OpenFile> {
    try {
      return await open(path, TOUCH, 0o644);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      await mkdir(folder).catch(unless('EEXIST'));
      return open(path, TOUCH, 0o644);
    }
  }

  return {
    /** Epoch ms by the file system's clock, as of the last touch; by this process's clock before the first. */
    now,

    /** The user of this process as the file system knows it; undefined before the first touch. */
    ownUid: () => uid,

    /** How far the file system's clock is ahead of this process's, in ms. */
    aheadMs: () => now() - time.now(),

    /**
     * Whether a time that another process set is over. Only when both clocks say so: a call is not refused because one of
     * them is wrong, and what must not happen twice does not depend on it.
     */
    isPast: (epochMs: number) => time.now() >= epochMs && now() >= epochMs,

    /** Writes the file, and resolves to the time by the file system. Throws when this process may not write there. */
    async touch(): Promise<number> {
      const file = await openFile();
      try {
        await file.write(String(time.now()));
        const stats = await file.stat();
        const fileMs = stats.mtimeMs;
        uid = stats.uid;
        last = { fileMs, at: time.monotonic() };
        return fileMs;
      } finally {
        await file.close();
      }
    },
  };
}

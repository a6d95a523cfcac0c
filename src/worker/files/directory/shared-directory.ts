import { constants } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { createClientDirectories } from '../client-directory.ts';
import { createFileClock, type FileClock } from '../file-clock.ts';
import { privateDirectory } from '../file-names.ts';
import { exists, fileSystemOf, noteFileSystem } from '../file-system.ts';
import { isFull } from '../reasons.ts';
import { access, chmod, lstat, stat } from '../seams/files.ts';
import type { FileStats } from '../seams/operations.ts';
import { createIdentity, type IdentityOptions, notUsable, UnusableSharedDirectory } from './directory-identity.ts';
import { createFreeSpace } from './free-space.ts';

/**
 * Everything else is below one of these: removing, claiming and keeping answers go through them without a look at each path.
 */
const OWN_AND_NEVER_LINKS = [
  '.rule-server',
  '.rule-server/claims',
  '.rule-server/answers',
  '.rule-server/clocks',
  '.rule-server/pick-ups',
  'mock',
];
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
  let fault: string | null = null;
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
        fault = null;
      } catch (error) {
        if (error instanceof UnusableSharedDirectory) fault = error.message;
        throw error;
      }
    },

    /** Why it could not be used, as of the last check. */
    fault: () => fault,
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
    await space.look();
    isReplaceable = mayBeReplaced(found, clock.ownUid());
  }
}

async function statOf(sharedDir: string): Promise<FileStats> {
  const found = await stat(sharedDir).catch((error) => {
    throw new UnusableSharedDirectory(`SHARED_DIR cannot be used (${errnoOf(error)}): create or mount it`);
  });
  if (!found.isDirectory()) throw new UnusableSharedDirectory(`SHARED_DIR is not a directory`);
  return found;
}

/**
 * Throws if a link stands in the place of a folder, or if somebody else owns one of the workers' own: its owner could remove claims,
 * and a rule would run twice. `ownUid`: undefined while it is not known.
 */
async function refuseStrangers(sharedDir: string, ownUid: number | undefined): Promise<void> {
  for (const name of OWN_AND_NEVER_LINKS) {
    const found = await lstat(join(sharedDir, name)).catch(unless('ENOENT', 'ENOTDIR')).catch(notUsable);
    if (found?.isSymbolicLink())
      throw new UnusableSharedDirectory(
        `SHARED_DIR/${name} is a link, and nothing below SHARED_DIR may be one: put a directory in its place`,
      );
    if (found && name !== 'mock' && ownUid !== undefined && found.uid !== ownUid)
      throw new UnusableSharedDirectory(
        `SHARED_DIR/${name} belongs to another user (${found.uid}) than this worker (${ownUid}), who could remove claims: let all workers run as one user, and give them .rule-server as their own`,
      );
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
  throw new UnusableSharedDirectory(
    'SHARED_DIR/.rule-server may be written by other users, who could remove claims: let its owner set its mode to 0700',
  );
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
  throw new UnusableSharedDirectory(
    `SHARED_DIR/${name} cannot be written by this worker (${errnoOf(error)}): give its user the right to, or mount it writable`,
  );
}

export type SharedDirectory = ReturnType<typeof createSharedDirectory>;

import { dirname, join } from 'node:path';
import type { RequestContent } from '../../shared/contract/client-files.ts';
import type { DialectName } from '../../shared/contract/client-kinds.ts';
import { joinMembers, toAscii } from '../../shared/contract/json/exact-json.ts';
import { perProcess } from '../../shared/ports/process.ts';
import { random } from '../../shared/ports/random.ts';
import { time } from '../../shared/ports/time.ts';
import { cached } from '../../shared/runtime/async.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { Claim } from './claims/claims.ts';
import { type ClientDirectory, directoryAt, flush } from './client-directory.ts';
import { dialects } from './dialects/dialects.ts';
import {
  MADE_BY_US,
  mockDirectory,
  openFileName,
  privateDirectory,
  requestFileName,
  resultFileName,
  temporaryFileName,
  withdrawnFileName,
} from './file-names.ts';
import { mkdir, readdir, rename, rm, stat } from './ports/files.ts';
import { isRegistered } from './registration-file.ts';
import { toSight } from './results/result-file.ts';
import type { FileClock } from './shared-directory.ts';

/** The directory and the id that the paths of one execution are made of. */
export type ExecutionFiles = { directory: string; mockId: string };

/** The files of a claimed execution. */
export function filesOf(sharedDir: string, { app, directoryName, mockId }: Claim): ExecutionFiles {
  return { directory: join(mockDirectory(sharedDir, app), directoryName), mockId };
}

export const resultPath = ({ directory, mockId }: ExecutionFiles) => join(directory, resultFileName(mockId));

/** A directory's mode may be changed at any time. */
const MODE_KEPT_MS = 5000;
/**
 * A request has the input: its group reads it. Others do where they may write the directory anyway, or where its group is not the one
 * of the client: the directory neither hands its group on (setgid) nor belongs to this worker's user.
 */
const requestModes = perProcess(() =>
  cached(MODE_KEPT_MS, async (directory) => {
    const { mode, uid } = await directoryAt(directory).stat();
    const isOfItsGroup = (mode & 0o2000) !== 0 || uid === process.getuid?.();
    return (mode & 0o002) === 0 && isOfItsGroup ? 0o640 : 0o644;
  }),
);

/** Writes the request under a name no client looks at, and returns that name. */
export async function writeTemporary(
  directory: string,
  content: RequestContent,
  dialect: DialectName,
): Promise<string> {
  const name = temporaryFileName(content.mockId, random.hex(4));
  const text = toAscii(joinMembers(dialects[dialect].requestMembers(content, time.now())));
  try {
    const mode = await requestModes()(directory);
    await directoryAt(directory).write(name, text, { mode });
  } catch (error) {
    await directoryAt(directory)
      .remove(name)
      .catch(() => {}); // on a full disk it may be there, and empty
    throw error;
  }
  return name;
}

/**
 * Marks the execution as open: the directory is not empty, so cleaners leave it, and other workers see that the client is
 * busy.
 */
export async function markOpen(files: ExecutionFiles): Promise<void> {
  await directoryAt(files.directory).write(openFileName(files.mockId), '').catch(unless('EEXIST'));
}

/**
 * Makes the request visible. Only the file named in the claim is ever renamed, so however often this is called, it happens
 * once. False when that file is not there.
 */
export async function renameRequest(files: ExecutionFiles, { temporary }: Claim): Promise<boolean> {
  try {
    await directoryAt(files.directory).rename(temporary, requestFileName(files.mockId));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Takes the request back; false when the client may have it. Its text stays under another name, so that a worker that goes on
 * with the execution does not take it for picked up.
 */
export async function withdraw(files: ExecutionFiles, { temporary }: Claim): Promise<boolean> {
  // A dispatcher that is asleep must not find anything to rename when it wakes up.
  const neverDispatched = await isWithdrawn(files, temporary);
  return neverDispatched || (await isWithdrawn(files, requestFileName(files.mockId))) || wasWithdrawn(files);
}

/** Whether the request was taken back, by whichever worker. */
export async function wasWithdrawn({ directory, mockId }: ExecutionFiles): Promise<boolean> {
  return directoryAt(directory).has(withdrawnFileName(mockId));
}

/** Removes the request file; false when it was gone already. */
export async function removeRequest({ directory, mockId }: ExecutionFiles): Promise<boolean> {
  return directoryAt(directory).remove(requestFileName(mockId));
}

/** False once the client took the request, or a worker took it back. */
export async function isRequestThere({ directory, mockId }: ExecutionFiles): Promise<boolean> {
  return directoryAt(directory).has(requestFileName(mockId));
}

/**
 * Removes what an ended execution left: the request before the result, so that a client never finds a request answered
 * already.
 */
export async function removeFiles(files: ExecutionFiles, claim: Claim, { keepAnswer = false } = {}): Promise<void> {
  await removeRequest(files);
  await directoryAt(files.directory).remove(withdrawnFileName(files.mockId));
  if (!keepAnswer) await removeAnswer(files);
  if (mayBeMadeByUs(claim)) await removeIfNobodyCame(files.directory);
}

export async function removeTemporary(directory: string, temporary: string): Promise<void> {
  await directoryAt(directory).remove(temporary);
}

/**
 * Whether the mark is still there. Clients delete their requests only; a cleaner that removes a directory removes the mark
 * with it.
 */
export async function isMarkThere({ directory, mockId }: ExecutionFiles): Promise<boolean> {
  return directoryAt(directory).has(openFileName(mockId));
}

/** Whether an execution has a file in its client's directory, as every one that is open. */
export async function hasAny({ directory, mockId }: ExecutionFiles, { temporary }: Claim): Promise<boolean> {
  const names = [temporary, openFileName(mockId), requestFileName(mockId), resultFileName(mockId)];
  const looks = [...names, withdrawnFileName(mockId)].map((name) => directoryAt(directory).has(name));
  return (await Promise.all(looks)).includes(true);
}

export async function removeOpenMark({ directory, mockId }: ExecutionFiles): Promise<void> {
  await directoryAt(directory).remove(openFileName(mockId));
}

/**
 * Whether a worker may have made the directory: nobody registered it. The claim does not tell it. Another execution may just have made it,
 * and put its marker there only after this one had taken it for a client's.
 */
export const mayBeMadeByUs = ({ registered }: Claim): boolean => !registered;

/**
 * Removes a directory that was made for an address where no client came; one with anything else in it stays. An execution that ends
 * while the marker is away leaves the directory alone: so whoever puts the marker back looks again.
 */
export async function removeIfNobodyCame(path: string): Promise<void> {
  const directory = directoryAt(path);
  while ((await isEmptyAndOurs(directory)) && (await directory.remove(MADE_BY_US))) {
    if ((await directory.removeItself()) === 'removed') return;
    // Another execution began to wait there meanwhile.
    await directory.write(MADE_BY_US, '').catch(unless('ENOENT', 'EEXIST'));
  }
}

/** Whether the marker alone is in a directory. While executions wait there it is not: the last one removes both. */
async function isEmptyAndOurs(directory: ClientDirectory): Promise<boolean> {
  const names = await directory.list().catch(unless('ENOENT', 'ENOTDIR'));
  return names?.length === 1 && names[0] === MADE_BY_US;
}

/** The directory of a client that unregistered goes with it: left behind, it would look like a client of its own. */
export async function removeIfLeft({ directory }: ExecutionFiles, registration: string): Promise<void> {
  if (!(await isRegistered(registration))) await directoryAt(directory).removeItself();
}

/** A client may have put anything where its result belongs, even a directory. */
async function removeAnswer({ directory, mockId }: ExecutionFiles): Promise<void> {
  const [name, own] = [resultFileName(mockId), directoryAt(directory)];
  await own.remove(name).catch(() => own.removeAll(name));
}

/**
 * Removes what lies where the answer belongs, if it is what was seen. It is moved aside first, so that an answer that comes at that moment is
 * not removed instead: what is not the same goes back.
 */
export async function removeResultSeen({ directory, mockId }: ExecutionFiles, stamp: string): Promise<void> {
  const [name, aside] = [resultFileName(mockId), temporaryFileName(mockId, 'unusable')];
  const own = directoryAt(directory);
  try {
    await own.rename(name, aside);
    if (toSight(await own.stat(aside)).stamp === stamp) await own.removeAll(aside);
    else await own.rename(aside, name);
  } catch (error) {
    unless('ENOENT', 'ENOTDIR')(error);
  }
}

/** Somebody picked up from a directory we made: from now on it is a client's. */
export async function keepDirectory(directory: string): Promise<void> {
  await directoryAt(directory).remove(MADE_BY_US);
}

async function isWithdrawn({ directory, mockId }: ExecutionFiles, from: string): Promise<boolean> {
  return directoryAt(directory)
    .rename(from, withdrawnFileName(mockId))
    .then(
      () => true,
      (error) => unless('ENOENT', 'ENOTDIR')(error) ?? false,
    );
}

// Answers after their end.

const BUCKET_MS = 10_000;
const BUCKETS_KEPT = 3;
const REMOVED = '.removed';

export type KeptAnswers = ReturnType<typeof createKeptAnswers>;

/**
 * Answers, for 30 to 50 s after their job was completed. A queue store that loses its data also forgets what it was told
 * last: an API that had not heard of it yet adds the execution again, and whoever takes it up finds the answer here. They
 * are in a folder per 10 s of the file system's time, which is the same for all workers, and out of the client's sight.
 */
export function createKeptAnswers(sharedDir: string, clock: FileClock) {
  const root = join(privateDirectory(sharedDir), 'answers');
  const folderOf = (bucket: number) => join(root, String(bucket));
  const bucketNow = () => Math.floor(clock.now() / BUCKET_MS);
  let made: number | undefined;

  return {
    /** Takes an answer out of the client's directory. One that cannot be kept is removed. */
    async keep(files: ExecutionFiles): Promise<void> {
      const bucket = bucketNow();
      try {
        if (made !== bucket) await makeFolder(folderOf(bucket));
        made = bucket;
        const to = join(folderOf(bucket), files.mockId);
        await directoryAt(files.directory).moveTo(resultFileName(files.mockId), to);
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') made = undefined; // the folder, or the answer
        await removeAnswer(files);
      }
    },

    /** The paths where the answer of an execution may lie, newest first; another worker may be a little ahead. */
    pathsOf(mockId: string): string[] {
      const newest = bucketNow() + 1;
      return Array.from({ length: BUCKETS_KEPT + 2 }, (_, age) => join(folderOf(newest - age), mockId));
    },

    /** Removes what is older, by name and by mtime. `now`: the time by the file system. To be called every few seconds. */
    async sweep(now: number): Promise<void> {
      for (const name of (await readdir(root).catch(unless('ENOENT'))) ?? []) {
        if (name.endsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true });
        else if (/^\d+$/.test(name) && (await isOld(Number(name), now))) await removeFolder(name);
      }
    },
  };

  async function isOld(bucket: number, now: number): Promise<boolean> {
    if (bucket >= Math.floor(now / BUCKET_MS) - BUCKETS_KEPT) return false;
    const found = await stat(folderOf(bucket)).catch(unless('ENOENT'));
    return found !== undefined && now - found.mtimeMs > BUCKETS_KEPT * BUCKET_MS;
  }

  /** Moved away first: an answer that is put in meanwhile would go with the others. */
  async function removeFolder(name: string): Promise<void> {
    const away = join(root, `${name}.${random.uuid()}${REMOVED}`);
    await rename(join(root, name), away).catch(unless('ENOENT')); // another worker was faster
    await rm(away, { recursive: true, force: true });
  }

  /** Not recursive: what is above must be there, or this is not the directory that was checked. */
  async function makeFolder(path: string): Promise<void> {
    await mkdir(root).catch(unless('EEXIST'));
    await mkdir(path).catch(unless('EEXIST'));
  }
}

// What must outlive a loss of power.

export type Flush = ReturnType<typeof createFlush>;

/**
 * With `FSYNC=1`: puts on the disk what must outlive a power failure of the machine with the shared directory. Without it
 * nothing is flushed, and that machine's file system decides what survives.
 */
export function createFlush({ isOn }: { isOn: boolean }) {
  return {
    /**
     * The request and the folders of its claim, before the request is made visible: once it is, a power failure must not lose its claim.
     */
    async beforeDispatch(
      files: ExecutionFiles,
      { temporary }: Claim,
      claimFolders: () => Promise<string[]>,
    ): Promise<void> {
      if (!isOn) return;
      // Another attempt may have dispatched it.
      await directoryAt(files.directory).sync(temporary).catch(unless('ENOENT'));
      // A symbolic link cannot be flushed: it is in its folder's own data.
      for (const folder of await claimFolders()) {
        await flush(folder);
        await flush(dirname(folder));
      }
    },

    /** The new name of the request: a name that the disk forgets would be given a second time. */
    async dispatched({ directory }: ExecutionFiles): Promise<void> {
      if (isOn) await directoryAt(directory).sync().catch(unless('ENOENT'));
    },
  };
}

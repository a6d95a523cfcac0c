import { dirname, join } from 'node:path';
import type { RequestContent } from '../../shared/contract/client-files.ts';
import type { DialectName } from '../../shared/contract/client-kinds.ts';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { Once } from '../../shared/contract/job.ts';
import { joinMembers, toAscii } from '../../shared/contract/json/exact-json.ts';
import { perProcess, random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { cached } from '../../shared/runtime/async.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Claim, ClaimKey, ClaimOrRefusal, Claims, Taken } from './claims/claims.ts';
import { CHECKED_FOR_MS, type ClientDirectory, directoryAt, flush } from './client-directory.ts';
import { dialects } from './dialects/dialects.ts';
import {
  directoryOfClient,
  MADE_BY_US,
  openFileName,
  privateDirectory,
  registrationPath,
  requestFileName,
  resultFileName,
  temporaryFileName,
  withdrawnFileName,
} from './file-names.ts';
import { mkdir, readdir, rename, rm, stat } from './ports/files.ts';
import { findRegistration, isRegistered } from './registration-file.ts';
import {
  type FoundResult,
  type MemoryBudget,
  mayBeNews,
  type ResultPlace,
  readResult,
  type Sight,
  toSight,
  type UnusableResult,
} from './results/result-file.ts';
import type { FileClock, SharedDirectory } from './shared-directory.ts';
import type { Listener, ResultWatcher } from './watch.ts';

type Parts = {
  sharedDirectory: SharedDirectory;
  claims: Claims;
  keptAnswers: KeptAnswers;
  watcher: ResultWatcher;
  flush: Flush;
  memory: MemoryBudget;
  settings: Settings;
};

export type Mailbox = ReturnType<typeof createMailbox>;

/**
 * Everything that an execution does with files. Of each operation that can fail its comment says what the failure means: it did not
 * happen, it may have happened, or nothing is known. An operation on a file server that is away may never end.
 */
export function createMailbox(parts: Parts) {
  return { ...requests(parts), ...dispatches(parts), ...reads(parts), ...changes(parts), ...removals(parts) };
}

/** Writes before the dispatch. */
function requests({ sharedDirectory, claims }: Parts) {
  return {
    /** The directory that the client reads. */
    directoryOf: (claim: Claim): string => filesIn(sharedDirectory, claim).directory,
    /** Reads the decision about an execution; null while there is none. A failure means that nothing is known. */
    find: (key: ClaimKey): Promise<ClaimOrRefusal | null> => claims.find(key),
    /**
     * Writes the request under a name that no client looks at, and resolves to that name. A failure means that the client sees nothing; what
     * was written is removed, or swept.
     */
    put: (directory: string, content: RequestContent, dialect: DialectName): Promise<string> =>
      writeTemporary(directory, content, dialect),
    /** Removes a request that was put and that no claim names. A failure means that it is swept. */
    discard: (directory: string, temporary: string): Promise<unknown> => directoryAt(directory).remove(temporary),
    /** Claims, unless there is a decision already; resolves to the one that counts. See `Claims.claim` for what a failure means. */
    claim: (key: ClaimKey, claim: Claim): Promise<ClaimOrRefusal> => claims.claim(key, claim),
    /** Refuses, unless there is a decision already; resolves to the one that counts. See `Claims.refuse` for what a failure means. */
    refuse: (key: ClaimKey, noAnswer: NoAnswer): Promise<ClaimOrRefusal> => claims.refuse(key, noAnswer),
    /** What was claimed under an Idempotency-Key before; null where nothing is known to be. A failure means that nothing is known. */
    findUnder: (once: Once): Promise<Taken | null> => claims.findUnder(once),
    /** Lets nothing else be claimed under an Idempotency-Key, unless something was. See `Claims.claim` for what a failure means. */
    hold: (key: ClaimKey, once: Once): Promise<Taken | null> => claims.hold(key, once),
  };
}

/** The dispatch, and what belongs to it. */
function dispatches({ sharedDirectory, claims, watcher, flush }: Parts) {
  return {
    /** Tells what is noticed about an execution until the returned function is called. Events are hints. */
    watch: (claim: Claim, tell: Listener): (() => void) =>
      watcher.watch(
        { directory: filesIn(sharedDirectory, claim).directory, registration: registrationIn(sharedDirectory, claim) },
        claim.mockId,
        tell,
      ),
    /** Puts the claim and the request on the disk, where that is wanted (FSYNC). A failure means that they may not outlive a loss of power. */
    async flush(claim: Claim, { claimBy, once }: { claimBy: number; once?: Once | undefined }): Promise<void> {
      const folders = async () => [claims.folderOf({ claimBy }), ...(once ? await claims.keyFolders() : [])];
      await flush.beforeDispatch(filesIn(sharedDirectory, claim), claim, folders);
    },
    /**
     * Makes the request visible, unless that was done already: only the file that the claim names is ever renamed. Resolves to whether this
     * call did it. A failure means that it may have happened.
     */
    async dispatch(claim: Claim): Promise<boolean> {
      const files = filesIn(sharedDirectory, claim);
      let isOurs = await renameRequest(files, claim);
      if (!isOurs) {
        // While the shared directory is away, the file is not found although no attempt has dispatched it.
        await sharedDirectory.mustBeThere();
        isOurs = await renameRequest(files, claim);
      }
      if (isOurs) await flush.dispatched(files);
      return isOurs;
    },
    /** Whether the mark is written before the request is seen: another server removes the directory whenever it is empty. */
    marksFirst: ({ registered, dialect }: Claim): boolean =>
      registered && (dialects[dialect].isSharedWithCleaners || sharedDirectory.hasOtherServer()),
    /** Marks the execution as open. `failed`: its directory is gone. A failure means that the mark may be there. */
    async mark(claim: Claim): Promise<'written' | 'failed'> {
      const written = markOpen(filesIn(sharedDirectory, claim)).then(() => true);
      return (await written.catch(unless('ENOENT', 'ENOTDIR'))) ? 'written' : 'failed';
    },
    /** Makes the directory of a client that lives and whose directory is gone. A failure means that it may be there. */
    async makeDirectory(claim: Claim): Promise<void> {
      sharedDirectory.forget(filesIn(sharedDirectory, claim).directory);
      await sharedDirectory.clientDirectory(claim.app, claim.directoryName);
    },
  };
}

/** Reads while an execution is open. A failure means that nothing is known. */
function reads({ sharedDirectory, keptAnswers, memory, settings }: Parts) {
  const { sharedDir } = sharedDirectory;

  /** Reads a file that may hold the answer. A failure is a kind of result. */
  async function read(claim: Claim, place: ResultPlace, { isWorthIt = () => true, ...how }: HowToRead) {
    let sight = how.sight;
    const { mockId } = claim;
    const expected = { mockId, dialect: dialects[claim.dialect], maxBytes: settings.MAX_RESULT_BYTES, memory };
    const noting = (seen: Sight) => {
      sight = seen;
      return isWorthIt(seen);
    };
    const found = await readResult(place, expected, { ...how, isWorthIt: noting });
    return { found, sight };
  }

  return {
    /** Reads the result file, unless it is known not to be a result. The caller releases the memory of one that is `present`. */
    readResult: (claim: Claim, { unusable, isLastRead, ...how }: Look) =>
      read(claim, resultPlace(filesIn(sharedDirectory, claim)), {
        ...how,
        isWorthIt: (seen) => mayBeNews(unusable, seen, isLastRead),
      }),
    /** Reads the answer that was taken out of the client's directory when its job was completed; null when there is none. */
    async readKept(claim: Claim, signal: AbortSignal): Promise<(FoundResult & { kind: 'present' }) | null> {
      for (const path of keptAnswers.pathsOf(claim.mockId)) {
        const { found } = await read(claim, { directory: dirname(path), name: claim.mockId }, { signal });
        if (found.kind !== 'present') continue;
        if (found.judgement.kind === 'answer') return found;
        found.lease.release();
      }
      return null;
    },
    /** Where the request is. Clients delete it and nothing else, so one that went together with our mark was not picked up. */
    async findRequest(claim: Claim, mark: 'none' | 'written' | 'failed') {
      const { directory, mockId } = filesIn(sharedDirectory, claim);
      const own = directoryAt(directory);
      if (await own.has(requestFileName(mockId))) return 'there';
      // A cleaner that removes a directory removes the mark with it.
      if (mark === 'written') return (await own.has(openFileName(mockId))) ? 'picked up' : 'vanished';
      if (claim.registered) return 'not known';
      // Without a mark, only a directory that is still there tells that the client took the request out of it.
      return (await own.isThere()) ? 'picked up' : 'not known';
    },
    /** Whether the request was taken back, by whichever worker. */
    wasWithdrawn: (claim: Claim): Promise<boolean> => wasWithdrawn(filesIn(sharedDirectory, claim)),
    /** Whether the registration that the claim names is there; true for a client that is only a directory. */
    async isRegistered(claim: Claim): Promise<boolean> {
      const registration = registrationIn(sharedDirectory, claim);
      return registration === null || (await isRegistered(registration));
    },
    /** Whether the client has a registration anywhere. `not known`: the whole shared directory is away. */
    async findClient(claim: Claim): Promise<'here' | 'gone' | 'not known'> {
      if (!(await sharedDirectory.isThere())) return 'not known';
      return claim.registered && (await findRegistration(sharedDir, claim)) ? 'here' : 'gone';
    },
  };
}

/** Changes of the directory while an execution is open. */
function changes({ sharedDirectory }: Parts) {
  return {
    /**
     * Takes the request back; false when the client may have it. Its text stays under another name, so that a worker that goes on with the
     * execution does not take it for picked up. A failure means that it may have happened.
     */
    withdraw: (claim: Claim): Promise<boolean> => withdraw(filesIn(sharedDirectory, claim), claim),
    /** Removes the request of an execution that was answered; false when it was gone. A failure means that the client may run it again. */
    removeRequest: (claim: Claim): Promise<boolean> => removeRequest(filesIn(sharedDirectory, claim)),
    /** A client came to the directory: if a worker made it, it is the client's from now on. A failure means that it may be. */
    async keepDirectory(claim: Claim): Promise<void> {
      if (mayBeMadeByUs(claim)) await directoryAt(filesIn(sharedDirectory, claim).directory).remove(MADE_BY_US);
    },
  };
}

/** Removals after the queue accepted the ending. Files whose removal fails are left for the sweep. */
function removals({ sharedDirectory, keptAnswers }: Parts) {
  return {
    /** Takes the answer out of the client's directory, and keeps it for a moment. */
    keepAnswer: (claim: Claim): Promise<void> => keptAnswers.keep(filesIn(sharedDirectory, claim)),
    /** Removes the request, the withdrawn request, the directory we made, and the result unless it may become an answer. */
    remove: (claim: Claim, { keepsResult = false } = {}): Promise<void> =>
      removeFiles(filesIn(sharedDirectory, claim), claim, { keepAnswer: keepsResult }),
    removeMark: (claim: Claim): Promise<void> => removeOpenMark(filesIn(sharedDirectory, claim)),
    /** Removes the directory of a client that unregistered. */
    async removeIfLeft(claim: Claim): Promise<void> {
      const registration = registrationIn(sharedDirectory, claim);
      if (registration !== null) await removeIfLeft(filesIn(sharedDirectory, claim), registration);
    },
    /** Removes a directory that was made for an address, unless somebody came. */
    removeIfNobodyCame: (directory: string): Promise<void> => removeIfNobodyCame(directory),
  };
}

function filesIn({ sharedDir }: SharedDirectory, claim: Claim): ExecutionFiles {
  return filesOf(sharedDir, claim);
}

function registrationIn({ sharedDir }: SharedDirectory, claim: Claim): string | null {
  return claim.registered ? registrationPath(sharedDir, claim) : null;
}

type HowToRead = { isWorthIt?: (sight: Sight) => boolean; sight?: Sight | undefined; signal?: AbortSignal };
type Look = { unusable: UnusableResult; isLastRead: boolean; sight: Sight | undefined; signal: AbortSignal };

// The files of one execution, and the operations that these are made of.

/** The directory and the id that the paths of one execution are made of. */
type ExecutionFiles = { directory: string; mockId: string };

/** The files of a claimed execution. */
export function filesOf(sharedDir: string, claim: Claim): ExecutionFiles {
  return { directory: directoryOfClient(sharedDir, claim), mockId: claim.mockId };
}

export const resultPlace = ({ directory, mockId }: ExecutionFiles) => ({ directory, name: resultFileName(mockId) });

/**
 * A request has the input: its group reads it. Others do where they may write the directory anyway, or where its group is not the one
 * of the client: the directory neither hands its group on (setgid) nor belongs to this worker's user.
 */
const requestModes = perProcess(() =>
  cached(CHECKED_FOR_MS, async (directory) => {
    const { mode, uid } = await directoryAt(directory).stat();
    const isOfItsGroup = (mode & 0o2000) !== 0 || uid === process.getuid?.();
    return (mode & 0o002) === 0 && isOfItsGroup ? 0o640 : 0o644;
  }),
);

async function writeTemporary(directory: string, content: RequestContent, dialect: DialectName): Promise<string> {
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

/** While the mark is there the directory is not empty, so cleaners leave it, and other workers see that the client is busy. */
async function markOpen(files: ExecutionFiles): Promise<void> {
  await directoryAt(files.directory).write(openFileName(files.mockId), '').catch(unless('EEXIST'));
}

/** False when the file that the claim names is not there. */
async function renameRequest(files: ExecutionFiles, { temporary }: Claim): Promise<boolean> {
  try {
    await directoryAt(files.directory).rename(temporary, requestFileName(files.mockId));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

async function withdraw(files: ExecutionFiles, { temporary }: Claim): Promise<boolean> {
  // A dispatcher that is asleep must not find anything to rename when it wakes up.
  const neverDispatched = await isWithdrawn(files, temporary);
  return neverDispatched || (await isWithdrawn(files, requestFileName(files.mockId))) || wasWithdrawn(files);
}

async function wasWithdrawn({ directory, mockId }: ExecutionFiles): Promise<boolean> {
  return directoryAt(directory).has(withdrawnFileName(mockId));
}

async function removeRequest({ directory, mockId }: ExecutionFiles): Promise<boolean> {
  const [name, own] = [requestFileName(mockId), directoryAt(directory)];
  return (await own.has(name)) && own.remove(name); // most clients have deleted it
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
const mayBeMadeByUs = ({ registered }: Claim): boolean => !registered;

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
  const folderOf = (bucket: number) => `${root}/${bucket}`;
  const bucketNow = () => Math.floor(clock.now() / BUCKET_MS);
  let made: number | undefined;

  return {
    /** Takes an answer out of the client's directory. One that cannot be kept is removed. */
    async keep(files: ExecutionFiles): Promise<void> {
      const bucket = bucketNow();
      try {
        if (made !== bucket) await makeFolder(folderOf(bucket));
        made = bucket;
        const to = `${folderOf(bucket)}/${files.mockId}`;
        await directoryAt(files.directory).moveTo(resultFileName(files.mockId), to);
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') made = undefined; // the folder, or the answer
        await removeAnswer(files);
      }
    },

    /** The paths where the answer of an execution may lie, newest first; another worker may be a little ahead. */
    pathsOf(mockId: string): string[] {
      const newest = bucketNow() + 1;
      return Array.from({ length: BUCKETS_KEPT + 2 }, (_, age) => `${folderOf(newest - age)}/${mockId}`);
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

type Flush = ReturnType<typeof createFlush>;

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

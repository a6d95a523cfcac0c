import { dirname } from 'node:path';
import type { RequestContent } from '../../shared/contract/client-files.ts';
import type { DialectName } from '../../shared/contract/client-kinds.ts';
import type { Once } from '../../shared/contract/job.ts';
import { joinMembers, toAscii } from '../../shared/contract/json/exact-json.ts';
import { perProcess, random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { cached } from '../../shared/runtime/async.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Claim, Claims } from './claims/claims.ts';
import { CHECKED_FOR_MS, type ClientDirectory, directoryAt, flush } from './client-directory.ts';
import { dialects } from './dialects/dialects.ts';
import {
  directoryOfClient,
  MADE_BY_US,
  openFileName,
  registrationPath,
  requestFileName,
  resultFileName,
  temporaryFileName,
  withdrawnFileName,
} from './file-names.ts';
import type { KeptAnswers } from './kept-answers.ts';
import { rm } from './ports/files.ts';
import { findRegistration, isRegistered } from './registration-file.ts';
import {
  type FoundResult,
  type MemoryBudget,
  mayBeNews,
  readResult,
  type Sight,
  toSight,
  type UnusableResult,
} from './results/result-file.ts';
import type { SharedDirectory } from './shared-directory.ts';
import type { Listener, ResultWatcher } from './watch.ts';

type Parts = {
  sharedDirectory: SharedDirectory;
  claims: Pick<Claims, 'folderOf' | 'keyFolders'>;
  keptAnswers: KeptAnswers;
  watcher: ResultWatcher;
  memory: MemoryBudget;
  settings: Settings;
};

export type Mailbox = ReturnType<typeof createMailbox>;

/**
 * Everything that an execution does in its client's directory. Of each operation that can fail its comment says what the failure means: it
 * did not happen, it may have happened, or nothing is known. An operation on a file server that is away may never end.
 */
export function createMailbox(parts: Parts) {
  return { ...dispatches(parts), ...reads(parts), ...changes(parts), ...kept(parts) };
}

const directoryOf = ({ sharedDir }: SharedDirectory, claim: Claim) => directoryAt(directoryOfClient(sharedDir, claim));

const registrationOf = ({ sharedDir }: SharedDirectory, claim: Claim) =>
  claim.registered ? registrationPath(sharedDir, claim) : null;

const orFalse = (error: unknown): false => unless('ENOENT', 'ENOTDIR')(error) ?? false;

/** The dispatch, and what belongs to it. */
function dispatches({ sharedDirectory, claims, watcher, settings }: Parts) {
  const of = (claim: Claim) => directoryOf(sharedDirectory, claim);
  const isFlushed = settings.FSYNC === '1';

  return {
    /** The directory that the client reads. */
    directoryOf: (claim: Claim): string => of(claim).path,
    /**
     * Writes the request under a name that no client looks at, and resolves to that name. A failure means that the client sees nothing; what
     * was written is removed, or swept.
     */
    put,
    /** Removes a request that was put and that no claim names. A failure means that it is swept. */
    discard: (directory: string, temporary: string): Promise<unknown> => directoryAt(directory).remove(temporary),
    /** Tells what is noticed about an execution until the returned function is called. Events are hints. */
    watch: (claim: Claim, tell: Listener): (() => void) =>
      watcher.watch(
        { directory: of(claim).path, registration: registrationOf(sharedDirectory, claim) },
        claim.mockId,
        tell,
      ),
    /**
     * With `FSYNC=1`: puts the request and the folders of its claim on the disk. Once the request is visible, a power failure must not lose its
     * claim. Without it the file system decides what survives. A failure means that they may not.
     */
    async flush(claim: Claim, { claimBy, once }: { claimBy: number; once?: Once | undefined }): Promise<void> {
      if (!isFlushed) return;
      // Another attempt may have dispatched it.
      await of(claim).sync(claim.temporary).catch(unless('ENOENT'));
      // A symbolic link cannot be flushed: it is in its folder's own data.
      for (const folder of [claims.folderOf({ claimBy }), ...(once ? await claims.keyFolders() : [])]) {
        await flush(folder);
        await flush(dirname(folder));
      }
    },
    /**
     * Makes the request visible, unless that was done already: only the file that the claim names is ever renamed. Resolves to whether this
     * call did it. A failure means that it may have happened.
     */
    async dispatch(claim: Claim): Promise<boolean> {
      let isOurs = await renameRequest(of(claim), claim);
      if (!isOurs) {
        // While the shared directory is away, the file is not found although no attempt has dispatched it.
        await sharedDirectory.mustBeThere();
        isOurs = await renameRequest(of(claim), claim);
      }
      // A name that the disk forgets would be given a second time.
      if (isOurs && isFlushed) await of(claim).sync().catch(unless('ENOENT'));
      return isOurs;
    },
    /** Whether the mark is written before the request is seen: another server removes the directory whenever it is empty. */
    marksFirst: ({ registered, dialect }: Claim): boolean =>
      registered && (dialects[dialect].isSharedWithCleaners || sharedDirectory.hasOtherServer()),
    /**
     * Marks the execution as open: cleaners leave a directory that is not empty, and other workers see that the client is busy. `failed`: its
     * directory is gone. A failure means that the mark may be there.
     */
    async mark(claim: Claim): Promise<'written' | 'failed'> {
      const written = of(claim).write(openFileName(claim.mockId), '').catch(unless('EEXIST'));
      return (await written.then(() => true, orFalse)) ? 'written' : 'failed';
    },
    /** Makes the directory of a client that lives and whose directory is gone. A failure means that it may be there. */
    async makeDirectory(claim: Claim): Promise<void> {
      sharedDirectory.forget(of(claim).path);
      await sharedDirectory.clientDirectory(claim.app, claim.directoryName);
    },
  };
}

async function put(directory: string, content: RequestContent, dialect: DialectName): Promise<string> {
  const own = directoryAt(directory);
  const name = temporaryFileName(content.mockId, random.hex(4));
  const text = toAscii(joinMembers(dialects[dialect].requestMembers(content, time.now())));
  try {
    await own.write(name, text, { mode: await requestModes()(directory) });
  } catch (error) {
    await own.remove(name).catch(() => {}); // on a full disk it may be there, and empty
    throw error;
  }
  return name;
}

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

/** False when the file that the claim names is not there. */
async function renameRequest(directory: ClientDirectory, { mockId, temporary }: Claim): Promise<boolean> {
  try {
    await directory.rename(temporary, requestFileName(mockId));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

type Look = { unusable: UnusableResult; isLastRead: boolean; signal?: AbortSignal };

/** Reads. A failure means that nothing is known. */
function reads({ sharedDirectory, memory, settings }: Parts) {
  const of = (claim: Claim) => directoryOf(sharedDirectory, claim);

  return {
    /** Reads the result file, unless it is known not to be a result. The caller releases the memory of one that is `present`. */
    async readResult(claim: Claim, { unusable, isLastRead, signal }: Look) {
      let sight: Sight | undefined;
      const isWorthIt = (seen: Sight) => {
        sight = seen;
        return mayBeNews(unusable, seen, isLastRead);
      };
      const place = { directory: of(claim).path, name: resultFileName(claim.mockId) };
      const found = await readResult(place, expectedOf(claim, { memory, settings }), { isWorthIt, signal });
      return { found, sight };
    },
    /** Where the request is. Clients delete it and nothing else, so one that went together with our mark was not picked up. */
    async findRequest(claim: Claim, mark: 'none' | 'written' | 'failed') {
      const { mockId } = claim;
      if (await of(claim).has(requestFileName(mockId))) return 'there';
      // A cleaner that removes a directory removes the mark with it.
      if (mark === 'written') return (await of(claim).has(openFileName(mockId))) ? 'picked up' : 'vanished';
      if (claim.registered) return 'not known';
      // Without a mark, only a directory that is still there tells that the client took the request out of it.
      return (await of(claim).isThere()) ? 'picked up' : 'not known';
    },
    /** Whether the request was taken back, by whichever worker. */
    wasWithdrawn: (claim: Claim): Promise<boolean> => of(claim).has(withdrawnFileName(claim.mockId)),
    /** Whether the registration that the claim names is there; true for a client that is only a directory. */
    async isRegistered(claim: Claim): Promise<boolean> {
      const registration = registrationOf(sharedDirectory, claim);
      return registration === null || (await isRegistered(registration));
    },
    /** Whether the client has a registration anywhere. `not known`: the whole shared directory is away. */
    async findClient(claim: Claim): Promise<'here' | 'gone' | 'not known'> {
      if (!(await sharedDirectory.isThere())) return 'not known';
      return claim.registered && (await findRegistration(sharedDirectory.sharedDir, claim)) ? 'here' : 'gone';
    },
    /** Whether an execution has a file in its client's directory, as every one that is open. */
    async hasAny(claim: Claim): Promise<boolean> {
      const { mockId, temporary } = claim;
      const names = [temporary, openFileName(mockId), requestFileName(mockId), resultFileName(mockId)];
      const looks = [...names, withdrawnFileName(mockId)].map((name) => of(claim).has(name));
      return (await Promise.all(looks)).includes(true);
    },
  };
}

/** Changes of the directory, while an execution is open and after it. Files whose removal fails are left for the sweep. */
function changes({ sharedDirectory }: Parts) {
  const of = (claim: Claim) => directoryOf(sharedDirectory, claim);

  /** Removes the request of an execution that was answered; false when it was gone. A failure means that the client may run it again. */
  async function removeRequest(claim: Claim): Promise<boolean> {
    const name = requestFileName(claim.mockId);
    return (await of(claim).has(name)) && of(claim).remove(name); // most clients have deleted it
  }

  return {
    removeRequest,
    /**
     * Takes the request back; false when the client may have it. Its text stays under another name, so that a worker that goes on with the
     * execution does not take it for picked up. A failure means that it may have happened.
     */
    async withdraw(claim: Claim): Promise<boolean> {
      const own = of(claim);
      const [request, withdrawn] = [requestFileName(claim.mockId), withdrawnFileName(claim.mockId)];
      const isTaken = (from: string) => own.rename(from, withdrawn).then(() => true, orFalse);
      // A dispatcher that is asleep must not find anything to rename when it wakes up.
      const neverDispatched = await isTaken(claim.temporary);
      return neverDispatched || (await isTaken(request)) || own.has(withdrawn);
    },
    /** A client came to the directory: if a worker made it, it is the client's from now on. A failure means that it may be. */
    async keepDirectory(claim: Claim): Promise<void> {
      if (mayBeMadeByUs(claim)) await of(claim).remove(MADE_BY_US);
    },
    /**
     * Removes the request, the withdrawn request, the result unless it may become an answer, and the directory we made: the request before the
     * result, so that a client never finds a request answered already.
     */
    async remove(claim: Claim, { keepsResult = false } = {}): Promise<void> {
      await removeRequest(claim);
      await of(claim).remove(withdrawnFileName(claim.mockId));
      if (!keepsResult) await removeAnswer(of(claim), claim.mockId);
      if (mayBeMadeByUs(claim)) await removeIfNobodyCame(of(claim).path);
    },
    removeMark: (claim: Claim): Promise<unknown> => of(claim).remove(openFileName(claim.mockId)),
    /** Removes what lies where the answer belongs, if it is what was seen. */
    removeResultSeen: (claim: Claim, stamp: string): Promise<void> => removeResultSeen(of(claim), claim.mockId, stamp),
    /** Removes the directory of a client that unregistered: left behind, it would look like a client of its own. */
    async removeIfLeft(claim: Claim): Promise<void> {
      const registration = registrationOf(sharedDirectory, claim);
      if (registration !== null && !(await isRegistered(registration))) await of(claim).removeItself();
    },
    removeIfNobodyCame,
  };
}

/** The answer, for a moment after its job was completed. */
function kept({ sharedDirectory, keptAnswers, memory, settings }: Parts) {
  const of = (claim: Claim) => directoryOf(sharedDirectory, claim);

  return {
    /** Takes the answer out of the client's directory, and keeps it for a moment. One that cannot be kept is removed. */
    async keepAnswer(claim: Claim): Promise<void> {
      const { mockId } = claim;
      const keep = async (again: boolean) =>
        of(claim).moveTo(resultFileName(mockId), await keptAnswers.pathFor(mockId, { again }));
      try {
        await keep(false).catch(() => keep(true)); // the folder may be gone
      } catch {
        await removeAnswer(of(claim), mockId);
      }
    },
    /** Removes the answer that was kept. */
    async forgetKept(mockId: string): Promise<void> {
      for (const folder of keptAnswers.folders()) await rm(`${folder}/${mockId}`, { force: true });
    },
    /** Reads the answer that was taken out of the client's directory when its job was completed; null when there is none. */
    async readKept(claim: Claim, signal: AbortSignal): Promise<(FoundResult & { kind: 'present' }) | null> {
      for (const directory of keptAnswers.folders()) {
        const found = await readResult({ directory, name: claim.mockId }, expectedOf(claim, { memory, settings }), {
          isWorthIt: () => true,
          signal,
        });
        if (found.kind !== 'present') continue;
        if (found.judgement.kind === 'answer') return found;
        found.lease.release();
      }
      return null;
    },
    hasKept: async ({ mockId }: Claim): Promise<boolean> =>
      (await Promise.all(keptAnswers.folders().map((folder) => directoryAt(folder).has(mockId)))).includes(true),
  };
}

const expectedOf = ({ mockId, dialect }: Claim, { memory, settings }: Pick<Parts, 'memory' | 'settings'>) => ({
  ...{ mockId, dialect: dialects[dialect] },
  ...{ maxBytes: settings.MAX_RESULT_BYTES, memory },
});

/** A client may have put anything where its result belongs, even a directory. */
async function removeAnswer(directory: ClientDirectory, mockId: string): Promise<void> {
  const name = resultFileName(mockId);
  await directory.remove(name).catch(() => directory.removeAll(name));
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

/** It is moved aside first, so that an answer that comes at that moment is not removed instead: what is not the same goes back. */
export async function removeResultSeen(directory: ClientDirectory, mockId: string, stamp: string): Promise<void> {
  const [name, aside] = [resultFileName(mockId), temporaryFileName(mockId, 'unusable')];
  try {
    await directory.rename(name, aside);
    if (toSight(await directory.stat(aside)).stamp === stamp) await directory.removeAll(aside);
    else await directory.rename(aside, name);
  } catch (error) {
    unless('ENOENT', 'ENOTDIR')(error);
  }
}

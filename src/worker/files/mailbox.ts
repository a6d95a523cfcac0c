import type { RequestContent } from '../../shared/contract/client-files.ts';
import type { DialectName } from '../../shared/contract/client-kinds.ts';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { Once } from '../../shared/contract/job.ts';
import { unless } from '../../shared/runtime/errno.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Claim, ClaimKey, ClaimOrRefusal, Claims, Taken } from './claims/claims.ts';
import { directoryAt } from './client-directory.ts';
import { dialects } from './dialects/dialects.ts';
import type { Flush, KeptAnswers } from './execution-files.ts';
import * as request from './execution-files.ts';
import { registrationPath } from './file-names.ts';
import { findRegistration, isRegistered } from './registration-file.ts';
import {
  type FoundResult,
  type MemoryBudget,
  mayBeNews,
  readResult,
  type Sight,
  type UnusableResult,
} from './results/result-file.ts';
import type { SharedDirectory } from './shared-directory.ts';
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
      request.writeTemporary(directory, content, dialect),
    /** Removes a request that was put and that no claim names. A failure means that it is swept. */
    discard: (directory: string, temporary: string): Promise<void> => request.removeTemporary(directory, temporary),
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
      let isOurs = await request.renameRequest(files, claim);
      if (!isOurs) {
        // While the shared directory is away, the file is not found although no attempt has dispatched it.
        await sharedDirectory.mustBeThere();
        isOurs = await request.renameRequest(files, claim);
      }
      if (isOurs) await flush.dispatched(files);
      return isOurs;
    },
    /** Whether the mark is written before the request is seen: another server removes the directory whenever it is empty. */
    marksFirst: ({ registered, dialect }: Claim): boolean =>
      registered && (dialects[dialect].isSharedWithCleaners || sharedDirectory.hasOtherServer()),
    /** Marks the execution as open. `failed`: its directory is gone. A failure means that the mark may be there. */
    async mark(claim: Claim): Promise<'written' | 'failed'> {
      const written = request.markOpen(filesIn(sharedDirectory, claim)).then(() => true);
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
  async function read(claim: Claim, path: string, { isWorthIt = () => true, ...how }: HowToRead) {
    let sight = how.sight;
    const { mockId } = claim;
    const expected = { mockId, dialect: dialects[claim.dialect], maxBytes: settings.MAX_RESULT_BYTES, memory };
    const noting = (seen: Sight) => {
      sight = seen;
      return isWorthIt(seen);
    };
    const found = await readResult(path, expected, { ...how, isWorthIt: noting });
    return { found, sight };
  }

  return {
    /** Reads the result file, unless it is known not to be a result. The caller releases the memory of one that is `present`. */
    readResult: (claim: Claim, { unusable, isLastRead, ...how }: Look) =>
      read(claim, request.resultPath(filesIn(sharedDirectory, claim)), {
        ...how,
        isWorthIt: (seen) => mayBeNews(unusable, seen, isLastRead),
      }),
    /** Reads the answer that was taken out of the client's directory when its job was completed; null when there is none. */
    async readKept(claim: Claim, signal: AbortSignal): Promise<(FoundResult & { kind: 'present' }) | null> {
      for (const path of keptAnswers.pathsOf(claim.mockId)) {
        const { found } = await read(claim, path, { signal });
        if (found.kind !== 'present') continue;
        if (found.judgement.kind === 'answer') return found;
        found.lease.release();
      }
      return null;
    },
    /** Where the request is. Clients delete it and nothing else, so one that went together with our mark was not picked up. */
    async findRequest(claim: Claim, mark: 'none' | 'written' | 'failed') {
      const files = filesIn(sharedDirectory, claim);
      if (await request.isRequestThere(files)) return 'there';
      if (mark === 'written') return (await request.isMarkThere(files)) ? 'picked up' : 'vanished';
      if (claim.registered) return 'not known';
      // Without a mark, only a directory that is still there tells that the client took the request out of it.
      return (await directoryAt(files.directory).isThere()) ? 'picked up' : 'not known';
    },
    /** Whether the request was taken back, by whichever worker. */
    wasWithdrawn: (claim: Claim): Promise<boolean> => request.wasWithdrawn(filesIn(sharedDirectory, claim)),
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
     * Takes the request back; false when the client may have it. Its text stays under another name. A failure means that it may have happened.
     */
    withdraw: (claim: Claim): Promise<boolean> => request.withdraw(filesIn(sharedDirectory, claim), claim),
    /** Removes the request of an execution that was answered; false when it was gone. A failure means that the client may run it again. */
    removeRequest: (claim: Claim): Promise<boolean> => request.removeRequest(filesIn(sharedDirectory, claim)),
    /** A client came to the directory: if a worker made it, it is the client's from now on. A failure means that it may be. */
    async keepDirectory(claim: Claim): Promise<void> {
      if (request.mayBeMadeByUs(claim)) await request.keepDirectory(filesIn(sharedDirectory, claim).directory);
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
      request.removeFiles(filesIn(sharedDirectory, claim), claim, { keepAnswer: keepsResult }),
    removeMark: (claim: Claim): Promise<void> => request.removeOpenMark(filesIn(sharedDirectory, claim)),
    /** Removes the directory of a client that unregistered. */
    async removeIfLeft(claim: Claim): Promise<void> {
      const registration = registrationIn(sharedDirectory, claim);
      if (registration !== null) await request.removeIfLeft(filesIn(sharedDirectory, claim), registration);
    },
    /** Removes a directory that was made for an address, unless somebody came. */
    removeIfNobodyCame: (directory: string): Promise<void> => request.removeIfNobodyCame(directory),
  };
}

function filesIn({ sharedDir }: SharedDirectory, claim: Claim): request.ExecutionFiles {
  return request.filesOf(sharedDir, claim);
}

function registrationIn({ sharedDir }: SharedDirectory, claim: Claim): string | null {
  return claim.registered ? registrationPath(sharedDir, claim) : null;
}

type HowToRead = { isWorthIt?: (sight: Sight) => boolean; sight?: Sight | undefined; signal?: AbortSignal };
type Look = { unusable: UnusableResult; isLastRead: boolean; sight: Sight | undefined; signal: AbortSignal };

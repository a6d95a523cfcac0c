import { readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { dialectNames, sdkNames } from '../../shared/contract/client-kinds.ts';
import { knownUpTo } from '../../shared/contract/job.ts';
import { type NoAnswer, noAnswerSchema } from '../../shared/contract/outcomes.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { CLAIM_KEPT_MS, type ClaimMinutes, createClaimMinutes } from './claim-minutes.ts';
import { createFileClock, type FileClock } from './file-clock.ts';
import { symlink } from './quick-files.ts';

/** The version of claims. They lie where they lie and have their `v` in every version, so that each sees those of all others. */
export const CLAIM_VERSION = 1;

/** Who an execution was dispatched to, decided once and for all by whoever wrote it first. */
const claimSchema = z.object({
  v: knownUpTo(CLAIM_VERSION),
  mockId: z.string(),
  app: z.int(),
  address: z.string(),
  lane: z.string().nullable(),
  directoryName: z.string(),
  registered: z.boolean(),
  dialect: z.enum(dialectNames),
  sdk: z.enum(sdkNames),
  /** Whether the client gives up on a request that is gone when it wants to delete it. */
  givesUp: z.boolean(),
  /** Whether the directory was made for an address that nobody has answered at, by this execution or another. */
  madeDirectory: z.boolean(),
  /** The one file whose renaming is the dispatch. */
  temporary: z.string(),
  /** Epoch ms of the end of the wait. */
  answerBy: z.int(),
});
export type Claim = z.infer<typeof claimSchema>;

/** What was decided about an execution: it was claimed, or it ended without a dispatch and nobody may claim it any more. */
export type ClaimOrRefusal = { kind: 'claimed'; claim: Claim } | { kind: 'refused'; noAnswer: NoAnswer };

const refusalSchema = z.object({ v: knownUpTo(CLAIM_VERSION), refused: noAnswerSchema });
const versionSchema = z.object({ v: z.int() });

/** A claim that exists but cannot be understood, such as one that was cut off. Nobody may dispatch beside it. */
export class UnknownClaim extends Error {}

/** A claim may have been written or not: the file system failed in a way that does not tell. The job is to be tried again. */
export class UncertainClaim extends Error {}

/** A claim of a newer version: a worker that can read it goes on with the execution. */
export class NewerClaim extends UnknownClaim {}

/**
 * The claims beside the request files. A claim is a symbolic link whose target is the claim's text: one system call
 * writes it, first wins, and it is complete the moment it is visible. Where links are missing it is a file of that text.
 * A refusal is written under the same name: once it is there, no worker can dispatch the execution any more, not even one that
 * sleeps just before its claim. So "did not run" is true. Both live in a folder named after the minute of the execution's
 * `claimBy`, which every attempt knows; neither counts once that minute was swept.
 */
export function createClaims(sharedDir: string, clock: FileClock = createFileClock(sharedDir)) {
  const minutes = createClaimMinutes(sharedDir);
  const pathOf = (key: Key) => join(minutes.folderOf(key), key.mockId);
  /** For minutes that were swept without leaving a mark, or whose mark is gone. */
  const mayBeSwept = ({ claimBy }: Key) => clock.isPast(claimBy + CLAIM_KEPT_MS);

  const refuseSwept = createRefuseSwept(minutes, pathOf);
  const counted = createCounted({ find, refuseSwept });

  async function find(key: Key): Promise<ClaimOrRefusal | null> {
    const text = await readClaim(pathOf(key));
    await refuseSwept(key);
    return text === undefined ? null : parseClaim(key, text);
  }

  /** Whether this one is the first. Without its folder no worker can claim either, so that a refusal need not be written. */
  async function writeFirst(key: Key, decision: ClaimOrRefusal): Promise<boolean> {
    try {
      return await write(pathOf(key), textOf(decision));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      await refuseSwept(key);
      if (decision.kind === 'refused') return (await stat(minutes.root)).isDirectory() && !mayBeSwept(key);
      throw error;
    }
  }

  return {
    /** What was decided about an execution, or null while nothing was. Throws `UnknownClaim` or `NewerClaim`. */
    find,

    /** The same for who does not know `claimBy`: looks through all that are kept. Null also for one that cannot be read. */
    findAnywhere: (mockId: string): Promise<ClaimOrRefusal | null> => findAnywhere(mockId, { minutes, find }),

    /**
     * Makes the folder for a claim. To be called before the last look at `claimBy`, and never after it: a worker that sleeps
     * for longer than claims are kept then finds the folder gone, instead of claiming a second time.
     */
    prepare: (key: Key): Promise<void> => minutes.make(key),

    /**
     * Writes a refusal unless there is a decision, and resolves to the one that counts. Makes the folder also after `claimBy`,
     * unless the claims of that minute may have been swept: then it throws `UnknownClaim`.
     */
    async fence(key: Key, noAnswer: NoAnswer): Promise<ClaimOrRefusal> {
      if (mayBeSwept(key)) throw swept(key);
      await minutes.make(key);
      const refusal: ClaimOrRefusal = { kind: 'refused', noAnswer };
      return counted(key, refusal, await write(pathOf(key), textOf(refusal)));
    },

    /** Whether the folder for a claim is there: made by the worker that claims, swept with the claim. */
    hasFolder: (key: Key): Promise<boolean> => minutes.isThere(key),

    /**
     * Writes a decision unless there is one already, and resolves to the one that counts. Throws `UnknownClaim` or
     * `NewerClaim`; the former also when the one that counts may have been swept. Throws `UncertainClaim` when it cannot be
     * told whether this decision was written.
     */
    async decide(key: Key, decision: ClaimOrRefusal): Promise<ClaimOrRefusal> {
      return counted(key, decision, !mayBeSwept(key) && (await writeFirst(key, decision)));
    },

    /** Where the claim of an execution lies. */
    folderOf: minutes.folderOf,

    sweep: minutes.sweep,
  };
}

export type Claims = ReturnType<typeof createClaims>;
type Key = { mockId: string; claimBy: number };

function createRefuseSwept({ wasSwept }: ClaimMinutes, pathOf: (key: Key) => string) {
  return async function refuseSwept(key: Key): Promise<void> {
    if (await wasSwept(key).catch(uncertainAt(pathOf(key)))) throw swept(key);
  };
}

type Find = (key: Key) => Promise<ClaimOrRefusal | null>;
type Looks = { find: Find; refuseSwept: (key: Key) => Promise<void> };

/** The decision that counts. After the write: an earlier claim was removed only once the mark was there. */
function createCounted({ find, refuseSwept }: Looks) {
  return async function counted(key: Key, own: ClaimOrRefusal, isFirst: boolean): Promise<ClaimOrRefusal> {
    await refuseSwept(key);
    const first = isFirst ? own : await find(key);
    if (!first) throw swept(key);
    return first;
  };
}

async function findAnywhere(
  mockId: string,
  { minutes, find }: { minutes: ClaimMinutes; find: Find },
): Promise<ClaimOrRefusal | null> {
  for (const { claimBy } of await minutes.keys()) {
    const found = await find({ mockId, claimBy }).catch(() => null);
    if (found) return found;
  }
  return null;
}

function textOf(decision: ClaimOrRefusal): string {
  return JSON.stringify(
    decision.kind === 'claimed' ? decision.claim : { v: CLAIM_VERSION, refused: decision.noAnswer },
  );
}

function parseClaim({ mockId }: Key, text: string): ClaimOrRefusal {
  const value = parseJson(text);
  const version = versionSchema.safeParse(value).data?.v ?? 0;
  if (version > CLAIM_VERSION) throw new NewerClaim(`the claim of ${mockId} has v ${version}`);
  const refusal = refusalSchema.safeParse(value);
  if (refusal.success) return { kind: 'refused', noAnswer: refusal.data.refused };
  const claim = claimSchema.safeParse(value);
  if (claim.success) return { kind: 'claimed', claim: claim.data };
  throw new UnknownClaim(`the claim of ${mockId} is not one this version can read`);
}

const swept = ({ mockId }: Key) => new UnknownClaim(`the claim of ${mockId} may have been swept`);

/** No symbolic links on this file system, or none of that length. */
const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENAMETOOLONG', 'EINVAL']);
/** What was to be written may be there all the same: the file server did it and its reply got lost, or another was first. */
const PROVES_NOTHING = new Set(['EPERM', 'EIO', 'ESTALE', 'ENOTCONN', 'ETIMEDOUT']);

/** True when this text is the first. */
async function write(path: string, text: string): Promise<boolean> {
  try {
    await symlink(text, path);
    return true;
  } catch (error) {
    const isFirst = await isFirstAfter(error, path, text);
    if (isFirst !== undefined) return isFirst;
    if (!CANNOT_LINK.has(errnoOf(error))) throw uncertain(path, error);
    return await writeExclusively(path, text);
  }
}

/** The first to create the file wins; a reader who comes before it is written finds a claim it cannot read. */
async function writeExclusively(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    const isFirst = await isFirstAfter(error, path, text);
    if (isFirst === undefined) throw uncertain(path, error);
    return isFirst;
  }
}

/** Whether this text is the first although writing it failed; undefined when nothing is there. Other failures are thrown. */
async function isFirstAfter(error: unknown, path: string, text: string): Promise<boolean | undefined> {
  const code = errnoOf(error);
  if (code === 'EEXIST') return false;
  if (!PROVES_NOTHING.has(code)) {
    if (CANNOT_LINK.has(code)) return undefined;
    throw error;
  }
  const found = await readClaim(path).catch(uncertainAt(path));
  return found === undefined ? undefined : found === text;
}

function uncertain(path: string, cause: unknown): UncertainClaim {
  return new UncertainClaim(`whether ${basename(path)} was claimed cannot be told (${errnoOf(cause)})`, { cause });
}

const uncertainAt = (path: string) => (cause: unknown) => {
  throw uncertain(path, cause);
};

async function readClaim(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return readFile(path, 'utf8'); // a file: written where links are missing
    return unless('ENOENT')(error);
  }
}

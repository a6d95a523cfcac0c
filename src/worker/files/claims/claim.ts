import { basename } from 'node:path';
import { z } from 'zod';
import { dialectNames, sdkNames } from '../../../shared/contract/client-kinds.ts';
import { type NoAnswer, noAnswerSchema } from '../../../shared/contract/endings/no-answer.ts';
import { knownUpTo } from '../../../shared/contract/job.ts';
import { parseJson } from '../../../shared/contract/json/parse-json.ts';
import { rulesOfRunSchema } from '../../../shared/contract/rules-of-run.ts';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { filesAt } from '../file-system.ts';
import { readFile, readlink, writeFile } from '../ports/files.ts';

/**
 * The version of claims. They lie where they lie and have their `v` in every version, so that each sees those of all others.
 */
export const CLAIM_VERSION = 1;

/** The client an execution is dispatched to. The first worker that writes it decides for good. */
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
  /** Whether no client had this address yet. */
  madeDirectory: z.boolean(),
  /** The one file whose renaming is the dispatch. */
  temporary: z.string(),
  /** Epoch ms of the end of the wait. */
  answerBy: z.int(),
  /** The rules that it is sent to run on. A claim of an earlier version does not say. */
  rules: rulesOfRunSchema.optional(),
});

export type Claim = z.infer<typeof claimSchema>;

/** The decision about an execution: it was claimed, or it ended without a dispatch and no worker may claim it any more. */
export type ClaimOrRefusal = { kind: 'claimed'; claim: Claim } | { kind: 'refused'; noAnswer: NoAnswer };
const refusalSchema = z.object({ v: knownUpTo(CLAIM_VERSION), refused: noAnswerSchema });
const versionSchema = z.object({ v: z.int() });

/** A claim that exists but cannot be understood, such as one that was cut off. No worker may dispatch beside it. */
export class UnknownClaim extends Error {}

/** A claim may have been written or not: the file system failed in a way that does not tell. The job is to be tried again. */
export class UncertainClaim extends Error {}

/** A claim of a newer version: a worker that can read it goes on with the execution. */
export class NewerClaim extends UnknownClaim {}

export type ClaimKey = { mockId: string; claimBy: number };

export function textOf(decision: ClaimOrRefusal): string {
  return JSON.stringify(
    decision.kind === 'claimed' ? decision.claim : { v: CLAIM_VERSION, refused: decision.noAnswer },
  );
}

export function parseClaim({ mockId }: ClaimKey, text: string): ClaimOrRefusal {
  const value = parseJson(text);
  const version = versionSchema.safeParse(value).data?.v ?? 0;
  if (version > CLAIM_VERSION) throw new NewerClaim(`the claim of ${mockId} has v ${version}`);
  const refusal = refusalSchema.safeParse(value);
  if (refusal.success) return { kind: 'refused', noAnswer: refusal.data.refused };
  const claim = claimSchema.safeParse(value);
  if (claim.success) return { kind: 'claimed', claim: claim.data };
  throw new UnknownClaim(`the claim of ${mockId} is not one this version can read`);
}

// The file of a claim.

/** No symbolic links on this file system, or none of that length. */
const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENAMETOOLONG', 'EINVAL']);

/** The file may be there although writing it failed: the file server's reply got lost, or another worker was first. */
const PROVES_NOTHING = new Set(['EPERM', 'EIO', 'ESTALE', 'ENOTCONN', 'ETIMEDOUT']);

/** True when this text is the first. */
export async function writeClaim(path: string, text: string): Promise<boolean> {
  try {
    await filesAt(path).symlink(text, path);
    return true;
  } catch (error) {
    const isFirst = await isFirstAfter(error, path, text);
    if (isFirst !== undefined) return isFirst;
    if (!CANNOT_LINK.has(errnoOf(error))) throw uncertain(path, error);
    return await writeExclusively(path, text);
  }
}

/** The first to create the file wins. A worker that reads it before its text is there finds a claim it cannot read. */
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
  return new UncertainClaim(`whether ${basename(path)} was claimed is not known (${errnoOf(cause)})`, { cause });
}

export const uncertainAt = (path: string) => (cause: unknown) => {
  throw uncertain(path, cause);
};

export async function readClaim(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return readFile(path); // a file: written where links are missing
    return unless('ENOENT')(error);
  }
}

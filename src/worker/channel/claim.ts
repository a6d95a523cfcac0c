import { mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { JOB_VERSION } from '../../shared/contract.ts';
import { errnoOf, unless } from '../../shared/errno.ts';
import { parseJson } from '../../shared/parse-json.ts';
import { privateDirectory } from './file-names.ts';

/** Who an execution was dispatched to, decided once and for all by whoever wrote it first. */
export const claimSchema = z.object({
  v: z.literal(JOB_VERSION),
  mockId: z.string(),
  app: z.int(),
  address: z.string(),
  lane: z.string().nullable(),
  directoryName: z.string(),
  registered: z.boolean(),
  dialect: z.enum(['rule', 'ice']),
  /** Whether the client gives up on a request that is gone when it wants to delete it. */
  givesUp: z.boolean(),
  /** Whether the directory was made for this execution. */
  madeDirectory: z.boolean(),
  /** The one file whose renaming is the dispatch. */
  temporary: z.string(),
  /** Epoch ms of the end of the wait. */
  answerBy: z.int(),
});
export type Claim = z.infer<typeof claimSchema>;

/** Claims outlive the longest call by far, so that nothing that woke up late can begin an execution again. */
export const CLAIM_KEPT_MS = 10 * 60_000;
const BUCKET_MS = 60_000;

/** A claim that exists but cannot be understood: written by a newer version, or cut off. Nobody may dispatch beside it. */
export class UnknownClaim extends Error {}

/**
 * The claims beside the request files. A claim is a symbolic link whose target is the claim's text: one system call
 * writes it, first wins, and it is complete the moment it is visible. Where links are missing it is a file of that text.
 * It lives in a folder named after the minute of its execution's `claimBy`, which every attempt knows, so that a whole
 * minute of claims is swept at once.
 */
export function createClaims(sharedDir: string) {
  const root = join(privateDirectory(sharedDir), 'claims');
  const pathOf = ({ mockId, claimBy }: Key) => join(root, String(Math.floor(claimBy / BUCKET_MS)), mockId);
  const known = new Set<string>();

  return {
    /** The claim of an execution, or null when nobody has one. Throws `UnknownClaim`. */
    async find(key: Key): Promise<Claim | null> {
      const text = await readClaim(pathOf(key));
      if (text === undefined) return null;
      const parsed = claimSchema.safeParse(parseJson(text));
      if (!parsed.success) throw new UnknownClaim(`the claim of ${key.mockId} is not one this version can read`);
      return parsed.data;
    },

    /**
     * Makes room for a claim. To be called before the last look at `claimBy`: a worker that sleeps for longer than claims
     * are kept then finds the room gone, instead of claiming a second time.
     */
    async prepare(key: Key): Promise<void> {
      const bucket = dirname(pathOf(key));
      if (known.has(bucket)) return;
      await mkdir(bucket, { recursive: true });
      known.add(bucket);
    },

    /** Writes the claim unless there is one already; true when this one is it. */
    async claim(key: Key, claim: Claim): Promise<boolean> {
      const text = JSON.stringify(claim);
      try {
        await symlink(text, pathOf(key));
        return true;
      } catch (error) {
        if (errnoOf(error) === 'EEXIST') return false;
        if (!CANNOT_LINK.has(errnoOf(error))) throw error;
        return await writeExclusively(pathOf(key), text);
      }
    },

    /** Removes the claims of all minutes that ended more than `CLAIM_KEPT_MS` ago. */
    async sweep(now: number): Promise<number> {
      const buckets = (await readdir(root).catch(unless('ENOENT'))) ?? [];
      const old = buckets.filter(
        (bucket) => /^\d+$/.test(bucket) && (Number(bucket) + 1) * BUCKET_MS + CLAIM_KEPT_MS < now,
      );
      for (const bucket of old) {
        known.delete(join(root, bucket));
        await rm(join(root, bucket), { recursive: true, force: true });
      }
      return old.length;
    },
  };
}

export type Claims = ReturnType<typeof createClaims>;
type Key = { mockId: string; claimBy: number };

/** No symbolic links on this file system, or none of that length. */
const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENAMETOOLONG', 'EINVAL']);

async function readClaim(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return readFile(path, 'utf8'); // a file: written where links are missing
    return unless('ENOENT')(error);
  }
}

/** The first to create the file wins; a reader who comes before it is written finds a claim it cannot read. */
async function writeExclusively(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

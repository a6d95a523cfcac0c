import { join } from 'node:path';
import { CLAIM_KEPT_MS } from '../../../shared/contract/claim-age.ts';
import { type NoAnswer, noAnswer } from '../../../shared/contract/endings/no-answer.ts';
import type { Once } from '../../../shared/contract/job.ts';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { privateDirectory } from '../file-names.ts';
import { mkdir, readdir, rename, rm, stat } from '../ports/files.ts';
import { type ClaimKey, type ClaimOrRefusal, readClaim, UncertainClaim, UnknownClaim, writeClaim } from './claim.ts';

/** A folder takes keys for so long, and is looked into for as long again: by then the claims of its executions were swept. */
const FOLDER_MS = 2 * CLAIM_KEPT_MS;
const REMOVED = '.removed';
const ATTEMPTS = 5;
const FORM = /^(\S+) (\d+) (\S+)$/;

/** What has run, or may run, under a key before: a claimed execution, and whether it is the same call. */
export type Taken = { key: ClaimKey; decision: ClaimOrRefusal & { kind: 'claimed' }; isSameCall: boolean };
type Holder = ClaimKey & { digest: string };

type ClaimsOfKeys = {
  find: (key: ClaimKey) => Promise<ClaimOrRefusal | null>;
  refuse: (key: ClaimKey, noAnswer: NoAnswer) => Promise<ClaimOrRefusal>;
};

/**
 * Which execution holds an Idempotency-Key. The queue store may forget a keyed call, and a repeat of it has another `claimBy`, so its claim lies in
 * another place. So before its claim an execution puts its id and `claimBy` under the key, in a place that does not depend on time; the first
 * one wins. One that finds another holder refuses it in the place of its claim: either that one is claimed, and then nothing else may run,
 * or it never will be, and the next number under the key is free.
 *
 * The folders are numbered. Keys are put into the two latest ones, the older first: whoever still sees the one before as the latest meets
 * everybody else in the folder that they share.
 */
export function createKeys(sharedDir: string, claims: ClaimsOfKeys) {
  const root = join(privateDirectory(sharedDir), 'claims', 'keys');
  const latest = () => latestIn(root);

  return {
    /** What was claimed under a key before; null where nothing is known to be. Throws what reading a claim does. */
    async findUnder(once: Once): Promise<Taken | null> {
      for (const folder of await latest()) {
        const found = await findIn(folder, once, claims);
        if (found) return found;
      }
      return null;
    },

    /**
     * Puts an execution under its key, and resolves to null once no other one can be claimed under it any more; or to what was claimed
     * before. Throws what writing a claim does.
     */
    async hold(own: ClaimKey, once: Once): Promise<Taken | null> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        try {
          for (const folder of await latestOrFirst(root)) {
            const found = await holdIn(folder, { own, once, ...claims });
            if (found) return found;
          }
          return null;
        } catch (error) {
          if (errnoOf(error) !== 'ENOENT') throw error; // else the older folder went meanwhile
        }
      }
      throw new UncertainClaim(`the folders of keys cannot be written for ${own.mockId}`);
    },

    /** The folders that `hold` puts a key into. */
    folders: latest,

    sweep: (now: number) => sweepKeys(root, now),
  };
}

async function findIn(folder: string, once: Once, { find }: Pick<ClaimsOfKeys, 'find'>): Promise<Taken | null> {
  for (let nth = 0; ; nth++) {
    const text = await readClaim(pathOf(folder, once, nth));
    if (text === undefined) return null;
    const holder = parseHolder(text);
    const decision = await find(holder);
    if (decision?.kind === 'claimed') return taken(holder, decision, once);
  }
}

type Holding = Pick<ClaimsOfKeys, 'refuse'> & { own: ClaimKey; once: Once };

async function holdIn(folder: string, { own, once, refuse }: Holding): Promise<Taken | null> {
  const text = `${own.mockId} ${own.claimBy} ${once.digest}`;
  for (let nth = 0; ; nth++) {
    const path = pathOf(folder, once, nth);
    if (await writeClaim(path, text)) return null;
    const found = await readClaim(path);
    if (found === undefined) throw new UncertainClaim(`who holds the key of ${own.mockId} cannot be read`);
    const holder = parseHolder(found);
    if (holder.mockId === own.mockId && holder.claimBy === own.claimBy) return null;
    const decision = await refuse(holder, noAnswer('fenced', { mockId: holder.mockId }));
    if (decision.kind === 'claimed') return taken(holder, decision, once);
  }
}

const pathOf = (folder: string, { key }: Once, nth: number) => join(folder, `${key}.${nth}`);

async function latestIn(root: string): Promise<string[]> {
  const numbers = numbersIn((await readdir(root).catch(unless('ENOENT'))) ?? []);
  return numbers.slice(-2).map((name) => join(root, name));
}

async function latestOrFirst(root: string): Promise<string[]> {
  const folders = await latestIn(root);
  if (folders.length > 0) return folders;
  const first = join(root, '1');
  await mkdir(root).catch(unless('EEXIST')); // not recursive: what is above must be there
  await mkdir(first).catch(unless('EEXIST'));
  return [first];
}

/**
 * Makes the next folder once the latest is old. Before, all others but the latest are moved away, so that nobody writes into one that others
 * no longer look into. `now`: the time by the file system.
 */
async function sweepKeys(root: string, now: number): Promise<void> {
  const numbers = numbersIn((await readdir(root).catch(unless('ENOENT'))) ?? []);
  const last = numbers.pop();
  const changed = await stat(root).catch(unless('ENOENT')); // it changes when a folder comes or goes
  if (last !== undefined && changed && Math.abs(now - changed.mtimeMs) > FOLDER_MS) {
    for (const name of numbers) await rename(join(root, name), join(root, name + REMOVED)).catch(unless('ENOENT'));
    await mkdir(join(root, String(Number(last) + 1))).catch(unless('EEXIST'));
  }
  for (const name of (await readdir(root).catch(unless('ENOENT'))) ?? [])
    if (name.endsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true });
}

function numbersIn(names: readonly string[]): string[] {
  return names.filter((name) => /^\d+$/.test(name)).sort((one, other) => Number(one) - Number(other));
}

function parseHolder(text: string): Holder {
  const [, mockId, claimBy, digest] = FORM.exec(text) ?? [];
  if (mockId === undefined || digest === undefined) throw new UnknownClaim('who holds a key cannot be read');
  return { mockId, claimBy: Number(claimBy), digest };
}

function taken({ digest, ...key }: Holder, decision: Taken['decision'], once: Once): Taken {
  return { key, decision, isSameCall: digest === once.digest };
}

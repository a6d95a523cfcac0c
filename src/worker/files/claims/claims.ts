import { basename, join } from 'node:path';
import { z } from 'zod';
import { CLAIM_KEPT_MS, claimMayBeSwept } from '../../../shared/contract/claim-age.ts';
import { dialectNames, sdkNames } from '../../../shared/contract/client-kinds.ts';
import { type NoAnswer, noAnswer, noAnswerSchema } from '../../../shared/contract/endings/no-answer.ts';
import { knownUpTo, type Once } from '../../../shared/contract/job.ts';
import { parseJson } from '../../../shared/contract/json/parse-json.ts';
import { rulesOfRunSchema } from '../../../shared/contract/rules-of-run.ts';
import { tryEach } from '../../../shared/runtime/async.ts';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { privateDirectory } from '../file-names.ts';
import { exists, filesAt } from '../file-system.ts';
import { mkdir, readdir, readFile, readlink, rename, rm, rmdir, stat, writeFile } from '../ports/files.ts';
import type { FileClock } from '../shared-directory.ts';

/**
 * The claims, in the shared directory. `begin.ts`, `unknown-jobs.ts`, `queries/fence.ts` and `batches/resolve-doubt.ts` write them;
 * every worker sweeps them (`upkeep/sweep.ts`). A claim is a symbolic link whose target is the claim's text: one system call
 * writes it, first wins, and it is complete the moment it is visible. Where links are missing it is a file of that text.
 * A refusal is written under the same name: once it is there, no worker can dispatch the execution any more, not even one that
 * sleeps just before its claim. So "did not run" is true. Both live in a folder named after the minute of the execution's
 * `claimBy`, which every attempt knows; neither counts once that minute was swept.
 */
export function createClaims(sharedDir: string, clock: FileClock) {
  const minutes = createClaimMinutes(sharedDir, clock);
  const { folderOf, hasFolder, prepareUnlessPast } = minutes;
  const { find, claim, refuse } = createDecisions(minutes);
  const keys = createKeys(sharedDir, { find, refuse });

  return {
    ...{ find, claim, refuse, folderOf, hasFolder, prepareUnlessPast },
    ...{ findUnder: keys.findUnder, hold: keys.hold, keyFolders: keys.folders },

    /**
     * What `find` tells, without `claimBy`: looks through the claims of all minutes. An item of a batch may have refusals beside its claim: the
     * claim counts. Null also for one that cannot be read.
     */
    async findAnywhere(mockId: string): Promise<ClaimOrRefusal | null> {
      let refusal: ClaimOrRefusal | null = null;
      for (const { claimBy } of await minutes.keys()) {
        const found = await find({ mockId, claimBy }).catch(() => null);
        if (found?.kind === 'claimed') return found;
        refusal ??= found;
      }
      return refusal;
    },

    /** Removes what is older than claims are kept; resolves to how many minutes of claims these were. `now`: the time by the file system. */
    async sweep(now: number, onError: (error: unknown) => void): Promise<number> {
      await keys.sweep(now).catch(onError);
      return minutes.sweep(now, onError);
    },
  };
}

export type Claims = ReturnType<typeof createClaims>;

/** Reads and writes the decisions about executions, each in the folder of its minute. */
function createDecisions({ pathOf, make, mayBeSwept, refuseSwept }: ReturnType<typeof createClaimMinutes>) {
  /** Reads the decision about an execution, or null while there is none. Throws `UnknownClaim` or `NewerClaim`. */
  async function find(key: ClaimKey): Promise<ClaimOrRefusal | null> {
    const text = await readClaim(pathOf(key));
    await refuseSwept(key);
    return text === undefined ? null : parseClaim(key, text);
  }

  /** Whether this decision is the first. A folder that is missing may have been swept with an earlier one. */
  async function writeFirst(key: ClaimKey, decision: ClaimOrRefusal): Promise<boolean> {
    try {
      return await writeClaim(pathOf(key), textOf(decision));
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') await refuseSwept(key);
      throw error;
    }
  }

  /** To be called after the write: an earlier claim can be missing only if the sweep's mark is there by now. */
  async function counted(key: ClaimKey, own: ClaimOrRefusal, isFirst: boolean): Promise<ClaimOrRefusal> {
    await refuseSwept(key);
    const first = isFirst ? own : await find(key);
    if (!first) throw swept(key);
    return first;
  }

  return {
    find,

    /**
     * Claims an execution unless there is a decision already, and resolves to the one that counts. Throws `UnknownClaim` or
     * `NewerClaim`; the former also when the one that counts may have been swept. Throws `UncertainClaim` when it cannot be
     * told whether the claim was written.
     */
    async claim(key: ClaimKey, claim: Claim): Promise<ClaimOrRefusal> {
      const own: ClaimOrRefusal = { kind: 'claimed', claim };
      return counted(key, own, !mayBeSwept(key) && (await writeFirst(key, own)));
    },

    /**
     * Refuses an execution unless there is a decision already, and resolves to the one that counts. Throws what `claim` does. Unlike a
     * claim it may be written after `claimBy`, so it makes the folder of that minute.
     */
    async refuse(key: ClaimKey, noAnswer: NoAnswer): Promise<ClaimOrRefusal> {
      if (mayBeSwept(key)) throw swept(key);
      await make(key);
      const own: ClaimOrRefusal = { kind: 'refused', noAnswer };
      return counted(key, own, await writeFirst(key, own));
    },
  };
}

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

function textOf(decision: ClaimOrRefusal): string {
  return JSON.stringify(
    decision.kind === 'claimed' ? decision.claim : { v: CLAIM_VERSION, refused: decision.noAnswer },
  );
}

function parseClaim({ mockId }: ClaimKey, text: string): ClaimOrRefusal {
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
async function writeClaim(path: string, text: string): Promise<boolean> {
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

const uncertainAt = (path: string) => (cause: unknown) => {
  throw uncertain(path, cause);
};

async function readClaim(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return readFile(path); // a file: written where links are missing
    return unless('ENOENT')(error);
  }
}

/** Claims are in folders, one per minute of `claimBy`. */
export const MINUTE_MS = 60_000;
const MARK_KEPT_MS = 24 * 60 * 60_000;
const SWEPT = '.swept';

/** The time that names the minute of an execution: epoch ms by the clock of its API, the same for every attempt. */
type Key = { claimBy: number };

/**
 * The folders that claims are in, one per minute of `claimBy`. A minute is swept by renaming its folder, in one step, to a
 * marker that stays for a day. If the minute is already marked as swept, an earlier claim may have been deleted with it, so a new claim there
 * cannot be trusted to be the first.
 */
function createClaimMinutes(sharedDir: string, clock: FileClock) {
  const root = join(privateDirectory(sharedDir), 'claims');
  const minuteOf = ({ claimBy }: Key) => String(Math.floor(claimBy / MINUTE_MS));
  const folderOf = (key: Key) => `${root}/${minuteOf(key)}`;
  const pathOf = (key: ClaimKey) => `${folderOf(key)}/${key.mockId}`;
  const made = new Set<string>();

  /** Not what is above the folder: that must be there, or this is not the directory that was checked. */
  async function make(key: Key): Promise<void> {
    if (made.has(minuteOf(key))) return;
    await mkdir(root).catch(unless('EEXIST'));
    await mkdir(folderOf(key)).catch(unless('EEXIST'));
    made.add(minuteOf(key));
  }

  return {
    ...{ root, folderOf, pathOf, make },

    /**
     * Makes the folder for a claim unless `claimBy` is over, and resolves to whether there is time left. The last look at
     * `claimBy` comes after the folder was made, never before: a worker that sleeps for longer than claims are kept then finds
     * the folder gone, instead of claiming a second time.
     */
    async prepareUnlessPast(key: Key): Promise<boolean> {
      if (!clock.isPast(key.claimBy)) await make(key);
      return !clock.isPast(key.claimBy);
    },

    /** Whether the folder for a claim is there: made by the worker that claims, swept with the claim. */
    hasFolder: (key: Key): Promise<boolean> => exists(folderOf(key)),

    /** Whether the claims of a minute may be gone without a mark, or with one that is gone. */
    mayBeSwept: ({ claimBy }: Key): boolean => claimMayBeSwept(claimBy, clock.isPast),

    /**
     * Throws `UnknownClaim` if the claims of that minute were, or are being, removed. To be called after a look at them, never before.
     */
    async refuseSwept(key: ClaimKey): Promise<void> {
      if (await exists(folderOf(key) + SWEPT).catch(uncertainAt(pathOf(key)))) throw swept(key);
    },

    /** A key of each minute that there are claims of. */
    async keys(): Promise<Key[]> {
      const names = (await readdir(root).catch(unless('ENOENT'))) ?? [];
      return names.filter((name) => /^\d+$/.test(name)).map((name) => ({ claimBy: Number(name) * MINUTE_MS }));
    },

    sweep: createSweep(root, made),
  };
}

const swept = ({ mockId }: ClaimKey) => new UnknownClaim(`the claim of ${mockId} may have been swept`);

/**
 * Removes the claims of all minutes that are over for more than `CLAIM_KEPT_MS`, and resolves to how many these were.
 * `now`: the time by the file system. `made`: the minutes that this worker knows to be there.
 */
function createSweep(root: string, made: Set<string>) {
  const emptied = new Set<string>();

  /** By its name and by its last claim: one of the two may come from a clock that is wrong. */
  async function isOld(minute: string, now: number): Promise<boolean> {
    if ((Number(minute) + 1) * MINUTE_MS + CLAIM_KEPT_MS >= now) return false;
    const found = await stat(join(root, minute)).catch(unless('ENOENT'));
    return found !== undefined && now - found.mtimeMs > CLAIM_KEPT_MS;
  }

  async function sweepMinute(minute: string): Promise<void> {
    const folder = join(root, minute);
    // A folder that was made again beside its mark has no claim that counts.
    if (await exists(folder + SWEPT)) return rm(folder, { recursive: true, force: true });
    await rename(folder, folder + SWEPT).catch(unless('ENOENT')); // another worker was faster
    await emptyMark(minute + SWEPT);
  }

  async function emptyMark(mark: string): Promise<void> {
    for (const name of (await readdir(join(root, mark)).catch(unless('ENOENT'))) ?? [])
      await rm(join(root, mark, name), { recursive: true, force: true });
    emptied.add(mark);
  }

  /** A worker that died may have left it half emptied. */
  async function sweepMark(mark: string, minute: string, now: number): Promise<void> {
    if (!emptied.has(mark)) await emptyMark(mark);
    if ((Number(minute) + 1) * MINUTE_MS + MARK_KEPT_MS >= now) return;
    const found = await stat(join(root, mark)).catch(unless('ENOENT'));
    if (found && now - found.mtimeMs <= MARK_KEPT_MS) return;
    await rmdir(join(root, mark)).catch(unless('ENOENT'));
  }

  /** Other workers sweep, too. */
  function forgetWhatIsGone(names: ReadonlySet<string>): void {
    for (const known of [made, emptied]) for (const name of known) if (!names.has(name)) known.delete(name);
  }

  return async function sweep(now: number, onError: (error: unknown) => void): Promise<number> {
    let removed = 0;
    const sweepOne = async (name: string) => {
      const [, minute = '', mark] = /^(\d+)(\.swept)?$/.exec(name) ?? [];
      if (mark) await sweepMark(name, minute, now);
      else if (minute !== '' && (await isOld(minute, now))) {
        await sweepMinute(minute);
        removed++;
      }
    };
    const names = (await readdir(root).catch(unless('ENOENT'))) ?? [];
    forgetWhatIsGone(new Set(names));
    await tryEach(names, sweepOne, onError);
    return removed;
  };
}

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
function createKeys(sharedDir: string, claims: ClaimsOfKeys) {
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
 * Makes the next folder once the latest is old: it takes keys for twice as long as claims are kept, and is looked into for as long again, so that
 * the claims of its executions were swept by then. Before, all others but the latest are moved away, so that nobody writes into one that others
 * no longer look into. `now`: the time by the file system.
 */
async function sweepKeys(root: string, now: number): Promise<void> {
  const numbers = numbersIn((await readdir(root).catch(unless('ENOENT'))) ?? []);
  const last = numbers.pop();
  const changed = await stat(root).catch(unless('ENOENT')); // it changes when a folder comes or goes
  if (last !== undefined && changed && Math.abs(now - changed.mtimeMs) > 2 * CLAIM_KEPT_MS) {
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

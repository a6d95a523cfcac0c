import { join } from 'node:path';
import { CLAIM_KEPT_MS, claimMayBeSwept } from '../../../shared/contract/claim-age.ts';
import { unless } from '../../../shared/runtime/errno.ts';
import { tryEach } from '../../../shared/runtime/try-each.ts';
import type { FileClock } from '../file-clock.ts';
import { privateDirectory } from '../file-names.ts';
import { exists } from '../file-system.ts';
import { mkdir, readdir, rename, rm, rmdir, stat } from '../ports/files.ts';
import { type ClaimKey, UnknownClaim, uncertainAt } from './claim.ts';

/** Claims are in folders, one per minute of `claimBy`. */
export const MINUTE_MS = 60_000;
const MARK_KEPT_MS = 24 * 60 * 60_000;
const SWEPT = '.swept';

/** The time that names the minute of an execution: epoch ms by the clock of its API, the same for every attempt. */
type Key = { claimBy: number };

/**
 * The folders that claims are in, one per minute of `claimBy`. A minute is swept by renaming its folder, in one step, to a
 * mark that stays for a day. A claim that finds the mark of its minute may not be the first one, whatever any clock says.
 */
export function createClaimMinutes(sharedDir: string, clock: FileClock) {
  const root = join(privateDirectory(sharedDir), 'claims');
  const minuteOf = ({ claimBy }: Key) => String(Math.floor(claimBy / MINUTE_MS));
  const folderOf = (key: Key) => join(root, minuteOf(key));
  const pathOf = (key: ClaimKey) => join(folderOf(key), key.mockId);
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

export const swept = ({ mockId }: ClaimKey) => new UnknownClaim(`the claim of ${mockId} may have been swept`);

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

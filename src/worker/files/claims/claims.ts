import type { NoAnswer } from '../../../shared/contract/endings/no-answer.ts';
import { errnoOf } from '../../../shared/runtime/errno.ts';
import type { FileClock } from '../file-clock.ts';
import { type Claim, type ClaimKey, type ClaimOrRefusal, parseClaim, readClaim, textOf, writeClaim } from './claim.ts';
import { createClaimMinutes, swept } from './claim-minutes.ts';
import { createKeys } from './keys.ts';

/**
 * The claims, in the shared directory. `begin.ts`, `unknown-jobs.ts`, `queries/fence.ts` and `batches/resolve-doubt.ts` write them;
 * every worker sweeps them (`upkeep/sweep-tasks.ts`). A claim is a symbolic link whose target is the claim's text: one system call
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

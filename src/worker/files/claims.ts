import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { type ClaimKey, type ClaimOrRefusal, parseClaim, textOf, UnknownClaim } from './claim.ts';
import { readClaim, uncertainAt, writeClaim } from './claim-file.ts';
import { CLAIM_KEPT_MS, type ClaimMinutes, createClaimMinutes } from './claim-minutes.ts';
import { createFileClock, type FileClock } from './file-clock.ts';

/**
 * The claims beside the request files. A claim is a symbolic link whose target is the claim's text: one system call
 * writes it, first wins, and it is complete the moment it is visible. Where links are missing it is a file of that text.
 * A refusal is written under the same name: once it is there, no worker can dispatch the execution any more, not even one that
 * sleeps just before its claim. So "did not run" is true. Both live in a folder named after the minute of the execution's
 * `claimBy`, which every attempt knows; neither counts once that minute was swept.
 */
export function createClaims(sharedDir: string, clock: FileClock = createFileClock(sharedDir)) {
  const minutes = createClaimMinutes(sharedDir);
  const pathOf = (key: ClaimKey) => join(minutes.folderOf(key), key.mockId);
  /** For minutes that were swept without leaving a mark, or whose mark is gone. */
  const mayBeSwept = ({ claimBy }: ClaimKey) => clock.isPast(claimBy + CLAIM_KEPT_MS);

  const refuseSwept = createRefuseSwept(minutes, pathOf);
  const counted = createCounted({ find, refuseSwept });

  async function find(key: ClaimKey): Promise<ClaimOrRefusal | null> {
    const text = await readClaim(pathOf(key));
    await refuseSwept(key);
    return text === undefined ? null : parseClaim(key, text);
  }

  /** Whether this one is the first. Without its folder no worker can claim either, so that a refusal need not be written. */
  async function writeFirst(key: ClaimKey, decision: ClaimOrRefusal): Promise<boolean> {
    try {
      return await writeClaim(pathOf(key), textOf(decision));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      await refuseSwept(key);
      if (decision.kind === 'refused') return (await stat(minutes.root)).isDirectory() && !mayBeSwept(key);
      throw error;
    }
  }

  return {
    /** Reads the decision about an execution, or null while there is none. Throws `UnknownClaim` or `NewerClaim`. */
    find,

    /** The same without `claimBy`: looks through all claims that are kept. Null also for one that cannot be read. */
    findAnywhere: (mockId: string): Promise<ClaimOrRefusal | null> => findAnywhere(mockId, { minutes, find }),

    /**
     * Makes the folder for a claim. To be called before the last look at `claimBy`, and never after it: a worker that sleeps
     * for longer than claims are kept then finds the folder gone, instead of claiming a second time.
     */
    prepare: (key: ClaimKey): Promise<void> => minutes.make(key),

    /**
     * Writes a refusal unless there is a decision, and resolves to the one that counts. Makes the folder also after `claimBy`,
     * unless the claims of that minute may have been swept: then it throws `UnknownClaim`.
     */
    async fence(key: ClaimKey, noAnswer: NoAnswer): Promise<ClaimOrRefusal> {
      if (mayBeSwept(key)) throw swept(key);
      await minutes.make(key);
      const refusal: ClaimOrRefusal = { kind: 'refused', noAnswer };
      return counted(key, refusal, await writeClaim(pathOf(key), textOf(refusal)));
    },

    /** Whether the folder for a claim is there: made by the worker that claims, swept with the claim. */
    hasFolder: (key: ClaimKey): Promise<boolean> => minutes.isThere(key),

    /**
     * Writes a decision unless there is one already, and resolves to the one that counts. Throws `UnknownClaim` or
     * `NewerClaim`; the former also when the one that counts may have been swept. Throws `UncertainClaim` when it cannot be
     * told whether this decision was written.
     */
    async decide(key: ClaimKey, decision: ClaimOrRefusal): Promise<ClaimOrRefusal> {
      return counted(key, decision, !mayBeSwept(key) && (await writeFirst(key, decision)));
    },

    /** The path of an execution's claim. */
    folderOf: minutes.folderOf,

    sweep: minutes.sweep,
  };
}

export type Claims = ReturnType<typeof createClaims>;

function createRefuseSwept({ wasSwept }: ClaimMinutes, pathOf: (key: ClaimKey) => string) {
  return async function refuseSwept(key: ClaimKey): Promise<void> {
    if (await wasSwept(key).catch(uncertainAt(pathOf(key)))) throw swept(key);
  };
}

type Find = (key: ClaimKey) => Promise<ClaimOrRefusal | null>;
type Looks = { find: Find; refuseSwept: (key: ClaimKey) => Promise<void> };

/** The decision that counts. After the write: an earlier claim was removed only once the mark was there. */
function createCounted({ find, refuseSwept }: Looks) {
  return async function counted(key: ClaimKey, own: ClaimOrRefusal, isFirst: boolean): Promise<ClaimOrRefusal> {
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

const swept = ({ mockId }: ClaimKey) => new UnknownClaim(`the claim of ${mockId} may have been swept`);

import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { Once } from '../../shared/contract/job.ts';
import type { Claims } from '../files/claims/claims.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { Answer } from './answer.ts';

export type Fence = (execution: { mockId: string; claimBy: number; once?: Once | undefined }) => Promise<Answer>;

/**
 * Writes a refusal in the place of an execution's claim, unless it is claimed. `claimed` also where an earlier call under its key was. The
 * refusal must lie where all workers look for claims: a worker whose SHARED_DIR is not the right one, or cannot be used, leaves the question
 * to another one.
 */
export function createFence({ claims, sharedDirectory }: { claims: Claims; sharedDirectory: SharedDirectory }): Fence {
  return async function fence({ mockId, claimBy, once }) {
    try {
      await sharedDirectory.check();
      const { kind } = await claims.refuse({ mockId, claimBy }, noAnswer('fenced', { mockId }));
      const isClaimed = kind === 'claimed' || (once !== undefined && (await claims.findUnder(once)) !== null);
      return { kind: 'found', body: JSON.stringify({ decision: isClaimed ? 'claimed' : 'fenced' }) };
    } catch {
      return { kind: 'pass-on' };
    }
  };
}

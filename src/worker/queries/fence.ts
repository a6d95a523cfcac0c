import { endings } from '../endings.ts';
import type { Claims } from '../files/claims.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { Answer } from './answer-query.ts';

export type Fence = (execution: { mockId: string; claimBy: number }) => Promise<Answer>;

/**
 * Refuses an execution in the place of its claim, unless it is claimed. Only where the claims of all workers are: a worker
 * whose SHARED_DIR is not the right one, or cannot be used, passes the question on.
 */
export function createFence({ claims, sharedDirectory }: { claims: Claims; sharedDirectory: SharedDirectory }): Fence {
  return async function fence({ mockId, claimBy }) {
    try {
      await sharedDirectory.check();
      const { kind } = await claims.fence({ mockId, claimBy }, endings.fenced(mockId));
      return { kind: 'found', body: JSON.stringify({ decision: kind === 'claimed' ? 'claimed' : 'fenced' }) };
    } catch {
      return { kind: 'pass-on' };
    }
  };
}

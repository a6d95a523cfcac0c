import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { time } from '../../shared/ports/time.ts';
import { MINUTE_MS, UnknownClaim } from '../files/claims/claims.ts';
import type { TargetRun } from './target-run.ts';

/** Whether an item was sent. If not, `claimFrom` says from when on it may be claimed, epoch ms. */
type Resolved = { kind: 'not-sent'; claimFrom: number } | { kind: 'sent'; claimBy: number } | { kind: 'unknown' };

/**
 * Resolves an item below earlier marks that the queue store does not know as sent: the store may have lost it, or the previous worker may still
 * send it. So a refusal is written in each place where its claim can be. Either the claim is there first, or no
 * worker can write it any more, not even one that is suspended just before that; then the item is sent under a later `claimBy`. The refusal
 * says that it may have run: the execution that meets it is not the one that counts.
 */
export async function resolveDoubt(self: TargetRun, index: number, mockId: string): Promise<Resolved> {
  const covering = self.earlier.filter(({ upTo }) => index < upTo);
  const [oldest] = covering;
  const latest = covering.at(-1);
  if (!oldest || !latest) return { kind: 'not-sent', claimFrom: 0 };
  if (claimMayBeSwept(oldest.at + self.begunWithinMs, time.isPast)) {
    // A store that has run since before the marks has lost nothing, and the time to claim the item is over.
    const isRemembered = covering.every(({ run }) => run !== '' && run === self.storeRunNow);
    const isOver = claimMayBeSwept(latest.until + self.begunWithinMs, time.isPast);
    return isRemembered && isOver ? { kind: 'not-sent', claimFrom: 0 } : { kind: 'unknown' };
  }
  const first = minuteOf(oldest.at + self.begunWithinMs);
  const last = minuteOf(latest.until + self.begunWithinMs);
  return refuseInAll(self, mockId, { first, last }).catch((error): Resolved => {
    if (error instanceof UnknownClaim) return { kind: 'unknown' };
    throw error;
  });
}

async function refuseInAll(
  { claims }: TargetRun,
  mockId: string,
  { first, last }: { first: number; last: number },
): Promise<Resolved> {
  const refusal = noAnswer('item-unknown', { mockId, why: 'batch-moved' });
  for (let minute = first; minute <= last; minute++) {
    const claimBy = minute * MINUTE_MS;
    const decision = await claims.refuse({ mockId, claimBy }, refusal);
    if (decision.kind === 'claimed') return { kind: 'sent', claimBy };
  }
  return { kind: 'not-sent', claimFrom: (last + 1) * MINUTE_MS };
}

const minuteOf = (epochMs: number) => Math.floor(epochMs / MINUTE_MS);

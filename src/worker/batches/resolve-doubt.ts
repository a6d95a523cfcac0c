import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import { sentences } from '../../shared/contract/sentences.ts';
import { MINUTE_MS } from '../files/claim-minutes.ts';
import type { TargetRun } from './target-run.ts';

/** Whether an item was sent. If not, `claimFrom` says from when on it may be claimed, epoch ms. */
type Resolved = { kind: 'not-sent'; claimFrom: number } | { kind: 'sent'; claimBy: number } | { kind: 'unknown' };

/**
 * Looks into an item below an earlier mark that the queue store does not know as sent. A store that runs since before the mark has
 * forgotten nothing: the item was not sent. Otherwise it may have been. So a refusal is written in each place where its claim can
 * be: the claim is there first, or no worker can write it any more, not even one that sleeps just before it does.
 */
export async function resolveDoubt(
  { earlier, claims, begunWithinMs, storeRunNow }: TargetRun,
  index: number,
  mockId: string,
): Promise<Resolved> {
  const covering = earlier.filter(({ upTo }) => index < upTo);
  const [oldest] = covering;
  const latest = covering.at(-1);
  const isRemembered = covering.every(({ run }) => run !== '' && run === storeRunNow);
  if (!oldest || !latest || isRemembered) return { kind: 'not-sent', claimFrom: 0 };
  if (claimMayBeSwept(oldest.at + begunWithinMs)) return { kind: 'unknown' };
  // One minute more than the marks say: an item that was resolved before has a later claim (`claimFrom`).
  const lastMinute = minuteOf(latest.until + begunWithinMs) + 1;
  for (let minute = minuteOf(oldest.at + begunWithinMs); minute <= lastMinute; minute++) {
    const claimBy = minute * MINUTE_MS;
    const decision = await claims.refuse({ mockId, claimBy }, sentences.fenced(mockId));
    if (decision.kind === 'claimed') return { kind: 'sent', claimBy };
  }
  return { kind: 'not-sent', claimFrom: (lastMinute + 1) * MINUTE_MS };
}

const minuteOf = (epochMs: number) => Math.floor(epochMs / MINUTE_MS);

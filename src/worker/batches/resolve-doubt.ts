import { CLAIM_KEPT_MS } from '../files/claim-minutes.ts';
import type { Claims } from '../files/claims.ts';
import { claimMayBeSwept } from './follow-items.ts';
import { pause, type TargetRun } from './target-run.ts';

const MINUTE_MS = 60_000;

/**
 * An item below an earlier mark that the queue store does not know as sent. A store that runs since before the mark has forgotten
 * nothing: it was not sent. Otherwise it may have been: a claim says so. Without one it was not, once no worker can claim it any more, unless claims of that time may have been swept.
 */
export async function resolveDoubt(
  self: TargetRun,
  index: number,
  mockId: string,
): Promise<'not-sent' | 'unknown' | number> {
  const { earlier, claims, begunWithinMs, run, storeRunNow } = self;
  const covering = earlier.filter(({ upTo }) => index < upTo);
  const [oldest] = covering;
  const latest = earlier.at(-1);
  if (!oldest || !latest || covering.every((mark) => mark.run !== '' && mark.run === storeRunNow)) return 'not-sent';
  if (claimMayBeSwept(oldest.at + begunWithinMs)) return 'unknown';
  const found = await claims.findAnywhere(mockId);
  if (found?.kind === 'claimed') return claimByOf(claims, mockId, oldest.at);
  const nobodyClaimsAfter = latest.until + begunWithinMs;
  while (Date.now() <= nobodyClaimsAfter && !run.signal.aborted) await pause(self, nobodyClaimsAfter - Date.now() + 1);
  return (await claims.findAnywhere(mockId)) === null ? 'not-sent' : claimByOf(claims, mockId, oldest.at);
}

/** The time a claim was made for, to its minute, which is what it is found by. */
async function claimByOf(claims: Claims, mockId: string, from: number): Promise<number | 'unknown'> {
  for (let at = from; at <= Date.now() + CLAIM_KEPT_MS; at += MINUTE_MS) {
    if ((await claims.find({ mockId, claimBy: at })) !== null) return at;
  }
  return 'unknown';
}

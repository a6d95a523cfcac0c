/**
 * Claims are swept this long after the `claimBy` of their execution: they outlive the longest call by far, so that nothing that woke up
 * late can begin an execution again.
 */
export const CLAIM_KEPT_MS = 10 * 60_000;
/** The clocks of two processes differ, and a claim is stored under the minute of its `claimBy`. */
const MARGIN_MS = 2 * 60_000;

/** Whether the claims of that time may have been swept, so that a missing one proves nothing. `isPast`: by which clock. */
export function claimMayBeSwept(claimBy: number, isPast: (epochMs: number) => boolean): boolean {
  return isPast(claimBy + CLAIM_KEPT_MS - MARGIN_MS);
}

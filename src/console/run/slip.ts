/** Systems take two clicks within this time for a double click; a key that bounces, or is struck twice, is faster. */
const SLIP_MS = 500;

const last = { what: '', at: Number.NEGATIVE_INFINITY };

/** Whether a press asks for the same as the press just before it, which nobody means twice. */
export function isSlip(what: string): boolean {
  const at = performance.now();
  const isAgain = what === last.what && at - last.at < SLIP_MS;
  Object.assign(last, { what, at });
  return isAgain;
}

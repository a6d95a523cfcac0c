/** Systems take two clicks within this time for a double click; a key that bounces, or is struck twice, is faster. */
const SLIP_MS = 500;

const pressedAt = new Map<string, number>();

/** Whether a press asks for the same as a press just before it, which nobody means twice. */
export function isSlip(what: string): boolean {
  const now = performance.now();
  for (const [earlier, at] of pressedAt) if (now - at >= SLIP_MS) pressedAt.delete(earlier);
  const isAgain = pressedAt.has(what);
  pressedAt.set(what, now);
  return isAgain;
}

/** When a rule or a node takes part. Both ends belong to it; epoch ms. */
export type TimeWindow = { after: bigint | null; before: bigint | null };

const AFTER_START = 5n;
const BEFORE_END = 6n;
const BETWEEN = 7n;

/**
 * The window that three members of a file stand for; null = always. As in the Java SDK a missing end is 0, so that a
 * window without one has been over since 1970.
 */
export function timeWindowOf(type: bigint | null, start: bigint | null, end: bigint | null): TimeWindow | null {
  if (type === AFTER_START) return { after: start ?? 0n, before: null };
  if (type === BEFORE_END) return { after: null, before: end ?? 0n };
  return type === BETWEEN ? { after: start ?? 0n, before: end ?? 0n } : null;
}

/** Whether a time (epoch ms) lies outside. */
export function isOutside({ after, before }: TimeWindow, time: bigint): boolean {
  return (after !== null && time < after) || (before !== null && time > before);
}

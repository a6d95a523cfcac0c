/** When a rule or a node takes part. Both ends belong to it; epoch ms. */
export type TimeWindow = { after: bigint | null; before: bigint | null };

/** Whether a time (epoch ms) lies outside. */
export function isOutside({ after, before }: TimeWindow, time: bigint): boolean {
  return (after !== null && time < after) || (before !== null && time > before);
}

/** How many calls failed, and why. */
export type Failures = { failed: number; why: string };

/** Counts failed calls by their reason. */
export function countFailures() {
  const counts = new Map<string, number>();
  return {
    add(why: string, times = 1): void {
      if (times > 0) counts.set(why, (counts.get(why) ?? 0) + times);
    },
    soFar: (): Failures => ({
      failed: [...counts.values()].reduce((sum, times) => sum + times, 0),
      why: [...counts].map(([why, times]) => `${times} × ${why}`).join('; '),
    }),
  };
}

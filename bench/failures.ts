/** How many calls failed, and why. */
export type Failures = { failed: number; why: string };

const NAMED = 3;

/** Counts failed calls by their reason: ids and times, which differ in each of them, are left out of it. */
export function countFailures() {
  const counts = new Map<string, number>();
  return {
    add(why: string, times = 1): void {
      const reason = why.replaceAll(/[0-9a-f-]{36}/g, '…').replaceAll(/\b\d{5,}\b|\b\d+(?= s\b)/g, '…');
      if (times > 0) counts.set(reason, (counts.get(reason) ?? 0) + times);
    },
    soFar(): Failures {
      const reasons = [...counts].toSorted(([, one], [, other]) => other - one);
      const named = reasons.slice(0, NAMED).map(([reason, times]) => `${times} × ${reason}`);
      if (reasons.length > NAMED) named.push(`${reasons.length - NAMED} other reasons`);
      return { failed: reasons.reduce((sum, [, times]) => sum + times, 0), why: named.join('; ') };
    },
  };
}

/** Of several loads: how many calls failed, and why. */
export function failuresOf(loads: readonly Failures[]): string {
  const failed = loads.filter((load) => load.failed > 0);
  return [failed.reduce((sum, load) => sum + load.failed, 0), ...failed.map(({ why }) => why)].join('; ');
}

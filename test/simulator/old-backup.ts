import type { Fault, Plan } from './search/plan.ts';
import { plain } from './search/plans.ts';

export const call = { n: 1, api: 0, key: null, leavesAfterMs: null, stoppedAfterMs: null };
export const toClient = { kind: 'address', address: 'client-1' } as const;

/** A call runs, its claim is swept, the mark of the sweep as well; then the queue store comes back with what it had when the call had just begun. */
export function oldBackup(marksKeptMs: number, clocks: Record<string, number>): Plan {
  const night = (at: number, ms: number): Fault => ({ kind: 'night', at, ms, store: 'whole', copiedBeforeMs: 1 });
  return plain(
    { clocks },
    {
      calls: [{ ...call, at: 1000, target: toClient }],
      faults: [
        night(2500, 15 * 60_000),
        night(6000, marksKeptMs),
        { kind: 'store', at: 9600, back: 'old', awayMs: 10, copiedBeforeMs: 8599 },
      ],
      faultyMs: 14_000,
    },
  );
}

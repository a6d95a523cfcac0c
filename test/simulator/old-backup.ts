import { type Fault, type Plan, planOf } from './search/plan.ts';
import type { ServicePlan } from './world/service.ts';

const quiet = planOf(1).rates;
/** A world in which nothing is drawn. */
function plain(service: Partial<ServicePlan>, plan: Pick<Plan, 'calls' | 'faults' | 'faultyMs'>): Plan {
  return {
    ...plan,
    seed: 0,
    looksAreStale: false,
    rates: { ...quiet },
    service: {
      ...{ apis: 1, workers: 1, cleaner: false, clocks: {}, filesAheadMs: 0, concurrency: 20, waitsPerClient: 500 },
      ...{ queueTimeoutMs: 2000, resultTimeoutMs: 3000 },
      clients: [{ sdk: 'node', registered: false, lane: null, behaviour: { scansEveryMs: 200 } }],
      ...service,
    },
  };
}

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

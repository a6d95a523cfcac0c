import type { ServicePlan } from '../world/service.ts';
import { type Plan, planOf } from './plan.ts';

const quiet = planOf(1).rates;

/** A large world in which nothing is drawn: one API, one worker and one client, and what is given. */
export function plain(service: Partial<ServicePlan>, plan: Pick<Plan, 'calls' | 'faults' | 'faultyMs'>): Plan {
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

const call = { api: 0, key: null, leavesAfterMs: null, stoppedAfterMs: null };
const target = { kind: 'address', address: 'client-1' } as const;

/**
 * The worker has one place, and its client is slow: so the second call waits on the queue. Once its caller was told that it did not run, the
 * queue store comes back with what it had before. The clock of the file server is behind: nothing seems to be too late.
 */
function broughtBack(second: Partial<Plan['calls'][number]>, storeAt: number): Plan {
  return plain(
    {
      concurrency: 1,
      filesAheadMs: -20 * 60_000,
      resultTimeoutMs: 9000,
      clients: [{ sdk: 'node', registered: false, lane: null, behaviour: { scansEveryMs: 6000 } }],
    },
    {
      calls: [
        { ...call, n: 1, at: 1000, target },
        { ...call, n: 2, at: 1100, target, ...second },
      ],
      faults: [{ kind: 'store', at: storeAt, back: 'old', awayMs: 10, copiedBeforeMs: storeAt - 1500 }],
      faultyMs: 20_000,
    },
  );
}

/** Worlds that are about one guard, by name. */
export const plans: Record<string, Plan> = {
  'a call that its caller left comes back': broughtBack({ leavesAfterMs: 500 }, 3000),
  'a call that no worker took in time comes back': broughtBack({}, 5000),
};

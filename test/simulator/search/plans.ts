import type { ServicePlan } from '../world/service.ts';
import { type Fault, type Plan, planOf } from './plan.ts';

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

/**
 * A call or a batch runs under its key. Then the queue store comes back as it was before, the API dies, and after `nightMs` the same is asked
 * for again.
 */
function forgotten(what: 'call' | 'batch', nightMs?: number): Plan {
  const faults: Fault[] = [
    { kind: 'store', at: 3000, back: 'old', awayMs: 10, copiedBeforeMs: 2500 },
    { kind: 'stop', at: 3010, role: 'api 1', startsAfterMs: 10 },
  ];
  if (nightMs !== undefined) faults.push({ kind: 'night', at: 4000, ms: nightMs, store: 'whole', copiedBeforeMs: 1 });
  const twice = [1, 2].map((n) => ({ n, at: n === 1 ? 1000 : 7000, key: 'key' }));
  const calls =
    what === 'call' ? twice.map((one) => ({ ...call, ...one, target })) : [{ ...call, n: 1, at: 9000, target }];
  const many = { api: 0, targets: [target], cases: 5, concurrency: 4, stopAfterFailures: null, cancelledAfterMs: null };
  const batches = what === 'batch' ? twice.map((one) => ({ ...many, ...one })) : [];
  return { ...plain({}, { calls, faults, faultyMs: 12_000 }), batches };
}

/** A call runs under its key, and the queue store forgets it. The same is asked for again while no worker runs. */
function forgottenWithoutWorker(): Plan {
  const { calls, ...plan } = forgotten('call');
  const stop: Fault = { kind: 'stop', at: 3500, role: 'worker 1', startsAfterMs: 7000 };
  return {
    ...plan,
    calls: calls.map((one) => ({ ...one, at: one.n === 1 ? 1000 : 4000 })),
    faults: [...plan.faults, stop],
  };
}

/** Worlds that are about one guard, by name. */
export const plans: Record<string, Plan> = {
  'a call that its caller left comes back': broughtBack({ leavesAfterMs: 500 }, 3000),
  'a call that no worker took in time comes back': broughtBack({}, 5000),
  'a keyed call is asked for again that the queue store forgot': forgotten('call'),
  'a keyed call is asked for again that the queue store forgot, and no worker runs': forgottenWithoutWorker(),
  'a keyed call is asked for again in another minute': forgotten('call', 3 * 60_000),
  'a keyed batch is asked for again that the queue store forgot': forgotten('batch'),
  'a keyed batch is asked for again in another minute': forgotten('batch', 3 * 60_000),
};

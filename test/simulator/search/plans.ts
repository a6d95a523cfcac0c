import type { ServicePlan } from '../world/service.ts';
import type { Fault, Plan, Rates } from './plan.ts';

const quiet: Rates = {
  ...{ other: 0, dies: 0, freezes: 0, sleeps: 0, slow: 0, stale: 0, diskLost: 0, diskFailed: 0, queue: 0 },
  ...{ dropped: 0, late: 0, twice: 0 },
};

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

const oneBatch = { n: 1, at: 850, api: 0, targets: [target], stopAfterFailures: null, cancelledAfterMs: null };

/**
 * A batch is cancelled while its worker stands still: another one takes it over, and leaves out the items that nobody has sent. The first one
 * wakes just before it sends one of them.
 */
function leftOutMeanwhile(): Plan {
  const plan = plain({ workers: 3, queueTimeoutMs: 10_000 }, { calls: [], faults: [], faultyMs: 2500 });
  return {
    ...plan,
    rates: { ...quiet, freezes: 0.03 },
    batches: [{ ...oneBatch, cases: 2, concurrency: 1, cancelledAfterMs: 80 }],
  };
}

/** Items run out of time, the queue store comes back as it was before, and the worker that knows how they ended is about to end the batch. */
function forgottenEndings(): Plan {
  const behaviour = { scansEveryMs: 1300, runsMs: 50, answers: 'late', lateMs: 3500 } as const;
  const faults: Fault[] = [
    { kind: 'stop', at: 1383, role: 'worker 3', startsAfterMs: 50 },
    { kind: 'store', at: 2712, back: 'old', awayMs: 552, copiedBeforeMs: 356 },
  ];
  const plan = plain(
    {
      ...{ workers: 3, queueTimeoutMs: 10_000, resultTimeoutMs: 1000 },
      clients: [{ sdk: 'node', registered: true, lane: null, behaviour }],
    },
    { calls: [], faults, faultyMs: 3040 },
  );
  return {
    ...plan,
    rates: { ...quiet, other: 0.1 },
    batches: [{ ...oneBatch, at: 828, targets: [{ kind: 'all' }], cases: 9, concurrency: 4 }],
  };
}

/**
 * A worker stands still before its claims, and the queue store loses all: the API adds its jobs again, and a worker that cannot write takes them.
 * It is the first one that the store knows of, and not the first.
 */
function addedAgain(): Plan {
  const faults: Fault[] = [
    { kind: 'store', at: 1350, back: 'empty', awayMs: 20, copiedBeforeMs: 1 },
    { kind: 'errors', at: 1350, code: 'ENOSPC', ms: 6000, who: 'worker 2', directory: null },
  ];
  const calls = Array.from({ length: 10 }, (_, index) => ({ ...call, n: index + 1, at: 1000 + 40 * index, target }));
  const plan = plain({ workers: 2, queueTimeoutMs: 10_000 }, { calls, faults, faultyMs: 8000 });
  return { ...plan, rates: { ...quiet, freezes: 0.02 } };
}

/** The queue store forgets a call that runs, its worker ends, and the same is asked for again at another API: its job is no job of the first one. */
function addedElsewhere(): Plan {
  const keyed = { ...call, key: 'key', target };
  const behaviour = { scansEveryMs: 200, runsMs: 8000 };
  return plain(
    { apis: 2, resultTimeoutMs: 9000, clients: [{ sdk: 'node', registered: false, lane: null, behaviour }] },
    {
      calls: [
        { ...keyed, n: 1, at: 1000 },
        { ...keyed, n: 2, at: 1650, api: 1 },
      ],
      faults: [
        { kind: 'flush', at: 1500 },
        { kind: 'stop', at: 1520, role: 'worker 1', startsAfterMs: 9000 },
      ],
      faultyMs: 12_000,
    },
  );
}

/** The worlds of a plan: one, or where twists are drawn one for each seed. */
export function worldsOf(plan: Plan, seeds: number): Plan[] {
  const isDrawn = Object.values(plan.rates).some((rate) => rate > 0);
  return Array.from({ length: isDrawn ? seeds : 1 }, (_, index) => ({ ...plan, seed: index + 1 }));
}

/** Worlds that are about one guard, by name. */
export const plans: Record<string, Plan> = {
  'a call that its caller left comes back': broughtBack({ leavesAfterMs: 500 }, 3000),
  'a call that no worker took in time comes back': broughtBack({}, 5000),
  'a keyed call is asked for again that the queue store forgot': forgotten('call'),
  'a keyed call is asked for again that the queue store forgot, and no worker runs': forgottenWithoutWorker(),
  'a keyed call is asked for again at another API, and no worker runs': addedElsewhere(),
  'a keyed call is asked for again in another minute': forgotten('call', 3 * 60_000),
  'a keyed batch is asked for again that the queue store forgot': forgotten('batch'),
  'a keyed batch is asked for again in another minute': forgotten('batch', 3 * 60_000),
  'the queue store forgets calls whose worker stands still': addedAgain(),
  'a batch is cancelled while its worker stands still': leftOutMeanwhile(),
  'the queue store forgets how items of a batch ended': forgottenEndings(),
};

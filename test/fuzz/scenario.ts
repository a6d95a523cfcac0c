import fc from 'fast-check';

/** What the clients of a scenario have to answer within. */
export const RESULT_TIMEOUT_MS = 2500;
/** Longer than the locks of a worker last, so that another one takes over while it sleeps. */
const LONG_SLEEP_MS = 6500;

/** What a client does with a request. */
export type Play =
  | { kind: 'answers' | 'fails' | 'fills in slowly' | 'keeps its request' | 'writes nonsense'; afterMs: number }
  | { kind: 'answers late' | 'looks late'; afterMs: number }
  | { kind: 'never looks' | 'never answers' }
  | { kind: 'leaves at once' | 'leaves with the request'; afterMs: number };

/** What a caller does while it waits. */
export type Caller = { kind: 'waits' } | { kind: 'hangs up' | 'cancels' | 'calls twice'; afterMs: number };

export type CallPlan = { atMs: number; api: number; play: Play; caller: Caller };

const workerFaults = ['kill a worker', 'freeze a worker', 'freeze a worker for long', 'replace a worker'] as const;
const apiFaults = ['kill an API', 'freeze an API'] as const;
const storeFaults = [
  'lose all data',
  'restart the store',
  'restart the store without its data',
  'freeze the store',
  'cut all connections',
] as const;

export type Fault = (typeof workerFaults)[number] | (typeof apiFaults)[number] | (typeof storeFaults)[number];
/** `which` chooses among the processes that run. */
export type Action = { atMs: number; fault: Fault; which: number; forMs: number };

export type Scenario = { calls: CallPlan[]; actions: Action[] };

const soon = fc.integer({ min: 0, max: 1200 });

const play: fc.Arbitrary<Play> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('answers', 'answers', 'answers', 'fails', 'fills in slowly', 'keeps its request'),
      afterMs: soon,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('writes nonsense'), afterMs: soon }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('answers late'),
      afterMs: fc.integer({ min: RESULT_TIMEOUT_MS + 200, max: RESULT_TIMEOUT_MS + 1500 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('looks late'),
      afterMs: fc.oneof(soon, fc.integer({ min: RESULT_TIMEOUT_MS - 300, max: RESULT_TIMEOUT_MS + 300 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('never looks', 'never answers') }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('leaves at once', 'leaves with the request'), afterMs: soon }),
  },
);

const caller: fc.Arbitrary<Caller> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ kind: 'waits' }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('hangs up', 'cancels', 'calls twice'), afterMs: soon }) },
);

const call = fc.record({ atMs: fc.integer({ min: 0, max: 2000 }), api: fc.nat(7), play, caller });

const action = (faults: readonly Fault[], lengths: fc.Arbitrary<number>): fc.Arbitrary<Action> =>
  fc.record({
    atMs: fc.integer({ min: 0, max: 2500 }),
    fault: fc.constantFrom(...faults),
    which: fc.nat(7),
    forMs: lengths,
  });
const short = fc.integer({ min: 50, max: 2000 });
const long = fc.integer({ min: LONG_SLEEP_MS, max: LONG_SLEEP_MS + 1500 });

/** A handful of calls, and what happens to everybody else meanwhile. */
export const scenario: fc.Arbitrary<Scenario> = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 14, size: 'max' }),
  actions: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: action(['kill a worker', 'replace a worker', 'freeze a worker'], short) },
      { weight: 2, arbitrary: action(['freeze a worker for long'], long) },
      { weight: 1, arbitrary: action(apiFaults, short) },
      { weight: 3, arbitrary: action(storeFaults, short) },
    ),
    { maxLength: 4, size: 'max' },
  ),
});

/** Whether the store may forget, or be away, in this scenario. */
export function hitsStore({ actions }: Scenario): boolean {
  return actions.some(({ fault }) => storeFaults.some((one) => one === fault));
}

/**
 * Whether everything must be tidied up without waiting for the sweep. What comes of an execution that was cancelled is left
 * to it, and of one that was taken back from a client that keeps its requests and runs them all the same.
 */
export function isCalm({ calls, actions }: Scenario): boolean {
  const leaves = ({ caller, play }: CallPlan) =>
    caller.kind === 'cancels' || (caller.kind === 'hangs up' && play.kind === 'keeps its request');
  return !calls.some(leaves) && actions.every(({ fault }) => fault === 'replace a worker');
}

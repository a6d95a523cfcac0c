import { type Bounds, type Explored, explore } from './search/explore.ts';
import type { Scene } from './search/schedule.ts';
import {
  type ClaimScene,
  claimScene,
  type Part,
  QUEUE_TIMEOUT_MS,
  RESULT_TIMEOUT_MS,
  SWEEP_AT,
} from './world/claim-scene.ts';
import { withoutRealWorld } from './world/no-real-world.ts';

/** A world that is small enough to be searched whole, and how far it is searched. */
export type SmallWorld = {
  name: string;
  make: () => Promise<Scene>;
  bounds: Bounds;
  /** Whether `npm test` searches it. */
  isQuick: boolean;
};

type Faults = Omit<Bounds, 'preemptions' | 'faults'>;
type Options = Partial<ClaimScene> & { isQuick?: boolean };

const ATTEMPTS = ['attempt 1', 'attempt 2'];
/** `claimBy` is over. */
const TOO_LATE = QUEUE_TIMEOUT_MS + 100;
/** The client of who claimed at once has no time left. */
const AFTER_THE_DEADLINE = RESULT_TIMEOUT_MS + 300;
/** No answer can come in time any more. */
const OVER_FOR_ALL = 12_000;
/** Claims of that time are no longer believed, and not swept yet. */
const MAY_BE_SWEPT = 500_000;
const AFTER_THE_SWEEP = SWEEP_AT + 60_000;

/** What the code does not tell apart is one of them. */
const faults = {
  'a crash': { crashes: true },
  'a sleep until it is too late': { sleepsUntil: [TOO_LATE] },
  'a sleep until nobody can answer': { sleepsUntil: [OVER_FOR_ALL] },
  'a sleep until claims may be swept': { sleepsUntil: [MAY_BE_SWEPT] },
  'a stale look': { staleBy: 2 },
  'a lost reply': { lostReplies: ['EIO'] },
  'a write that is told what it did itself': { lostReplies: ['EEXIST', 'ENOENT'] },
  'a disk that is full once': { failures: ['ENOSPC'] },
  'a write that is not allowed': { failures: ['EACCES', 'EROFS'] },
  'a write of which nothing is known': { failures: ['EIO', 'ESTALE', 'EPERM'] },
  'a look that fails': { lookFailures: ['EIO'] },
  'a look whose file the server lost': { lookFailures: ['ESTALE'] },
  'too many open files once': { lookFailures: ['EMFILE'] },
  'a look that is not allowed': { lookFailures: ['EACCES'] },
  'a hang': { hangs: true },
  'a clock that jumps ahead': { jumps: [20 * 60_000] },
  'a clock that jumps back': { jumps: [-20 * 60_000] },
} satisfies Record<string, Faults>;
const sweepFaults = {
  'a sleep until the sweep': { sleepsUntil: [SWEEP_AT] },
  'a sleep until after the sweep': { sleepsUntil: [AFTER_THE_SWEEP] },
} satisfies Record<string, Faults>;

const pairs: Part[][] = [
  ['attempt 1', 'client'],
  ['attempt 1', 'attempt 2', 'client'],
  ['attempt 1', 'sweeper', 'client'],
  ['attempt 1', 'fence', 'client'],
];
const triples: Part[][] = [
  ['attempt 1', 'attempt 2', 'sweeper', 'client'],
  ['attempt 1', 'attempt 2', 'fence', 'client'],
  ['attempt 1', 'sweeper', 'fence', 'client'],
];
const all: Part[] = ['attempt 1', 'attempt 2', 'sweeper', 'fence', 'client'];

function world(
  parts: readonly Part[],
  what: string,
  bounds: Bounds,
  { isQuick = false, ...scene }: Options = {},
): SmallWorld {
  return {
    name: `${parts.join(', ')}: ${what}`,
    make: () => claimScene({ parts, staleBy: bounds.staleBy ?? 0, ...scene }),
    bounds: { hits: ATTEMPTS, ...bounds },
    isQuick,
  };
}

const quick = new Set(
  [
    ['attempt 1, client', 'a crash'],
    ['attempt 1, client', 'a stale look'],
    ['attempt 1, client', 'a lost reply'],
    ['attempt 1, sweeper, client', 'a crash'],
    ['attempt 1, fence, client', 'a crash'],
  ].map((parts) => parts.join(': ')),
);

/** With three who take part only these. */
const FOR_TRIPLES = [
  'a crash',
  'a stale look',
  'a lost reply',
  'a sleep until it is too late',
  'a sleep until the sweep',
];

function withOneFault(parts: readonly Part[]): SmallWorld[] {
  const all: Record<string, Faults> = parts.includes('sweeper') ? { ...faults, ...sweepFaults } : faults;
  const tried = Object.entries(all).filter(([what]) => parts.length <= 3 || FOR_TRIPLES.includes(what));
  return tried.map(([what, bounds]) =>
    world(
      parts,
      `one preemption and ${what}`,
      { preemptions: 1, faults: 1, anywhere: parts.length === 2, ...bounds },
      { isQuick: quick.has(`${parts.join(', ')}: ${what}`) },
    ),
  );
}

const DAY = 24 * 60 * 60_000;
const ORDER: Bounds = { preemptions: 1, faults: 0 };
const two: Part[] = ['attempt 1', 'attempt 2', 'client'];
const swept: Part[] = ['attempt 1', 'attempt 2', 'sweeper', 'client'];
/** The sweeps: the claims of the minute, and a day later the mark. */
const SWEEPS = [SWEEP_AT, 1.1 * DAY];

/** Each of these is about one guard. */
const special: SmallWorld[] = [
  world(
    two,
    'a crash of attempt 1',
    { preemptions: 0, faults: 1, crashes: true, hits: ['attempt 1'] },
    { isQuick: true },
  ),
  ...(['two preemptions', 'one preemption and a crash'] as const).map((what) =>
    world(
      ['attempt 1', 'client'],
      `a client that is registered; ${what}`,
      what === 'two preemptions'
        ? { preemptions: 2, faults: 0 }
        : { preemptions: 1, faults: 1, crashes: true, hits: ['attempt 1', 'client'] },
      { isRegistered: true },
    ),
  ),
  world(two, 'a client that is registered', { preemptions: 2, faults: 0 }, { isRegistered: true }),
  world(
    swept,
    'the queue store brings the execution back after the sweep, the clock of its worker 20 min behind',
    ORDER,
    { secondAt: AFTER_THE_SWEEP, forgotCount: true, aheadMs: { 'attempt 2': -20 * 60_000 } },
  ),
  world(two, 'who lives answers in any order', ORDER, { mustAnswer: true }),
  world(
    ['attempt 1', 'sweeper', 'second sweeper', 'client'],
    'the sweeper is killed, and another one comes after a day',
    { preemptions: 0, faults: 1, crashes: true, hits: ['sweeper'] },
    { sweepsAt: SWEEPS, leavesNothing: true },
  ),
  world(two, 'who lives answers', ORDER, { mustAnswer: true, secondAt: 100, isQuick: true }),
  world(
    ['attempt 1', 'client'],
    'who lives answers though a look fails',
    { preemptions: 0, faults: 1, lookFailures: ['EIO'] },
    { mustAnswer: true },
  ),
  world(
    two,
    'attempt 2 comes too late, and attempt 1 sleeps until then',
    { preemptions: 0, faults: 1, sleepsUntil: [TOO_LATE], hits: ['attempt 1'] },
    { secondAt: TOO_LATE, isQuick: true },
  ),
  world(
    two,
    'attempt 2 comes after the deadline, and attempt 1 sleeps until then',
    { preemptions: 1, faults: 1, sleepsUntil: [AFTER_THE_DEADLINE], hits: ['attempt 1'] },
    { secondAt: AFTER_THE_DEADLINE, isRegistered: true },
  ),
  world(two, 'the disk is full for attempt 2', ORDER, { cannotWrite: { part: 'attempt 2', code: 'ENOSPC' } }),
  world(two, 'attempt 2 cannot write, and its disk does not say what happened', ORDER, {
    cannotWrite: { part: 'attempt 2', code: 'EIO' },
  }),
  world(two, 'the queue store forgot attempt 1, and the disk is full for attempt 2', ORDER, {
    forgotCount: true,
    cannotWrite: { part: 'attempt 2', code: 'ENOSPC' },
  }),
  world(two, 'no links', ORDER, { hasNoLinks: true }),
  world(['attempt 1', 'client'], 'the answer is lost', ORDER, { client: { answers: 'never' }, isQuick: true }),
  world(
    ['attempt 1', 'client'],
    'the client sleeps until the deadline',
    {
      preemptions: 1,
      faults: 1,
      sleepsUntil: [RESULT_TIMEOUT_MS],
      hits: ['client'],
    },
    { isRegistered: true },
  ),
  world(['attempt 1', 'client'], 'the client is killed', {
    preemptions: 1,
    faults: 1,
    crashes: true,
    hits: ['client'],
  }),
  world(two, 'the client deletes last', ORDER, { client: { deletes: 'last' } }),
  world(
    swept,
    'attempt 2 comes after the sweep, its clock 20 min behind',
    { preemptions: 1, faults: 0 },
    { secondAt: SWEEP_AT + 60_000, aheadMs: { 'attempt 2': -20 * 60_000 } },
  ),
  world(
    swept,
    'attempt 2 comes with the sweep, its clock 20 min behind',
    { preemptions: 2, faults: 0 },
    { secondAt: SWEEP_AT, aheadMs: { 'attempt 2': -20 * 60_000 } },
  ),
  world(
    swept,
    'attempt 1 sleeps until the sweep, its clock 20 min behind',
    { preemptions: 1, faults: 1, sleepsUntil: [SWEEP_AT], hits: ['attempt 1'] },
    { aheadMs: { 'attempt 1': -20 * 60_000 } },
  ),
  world(swept, 'the queue store brings the execution back after a day', ORDER, {
    secondAt: 1.2 * DAY,
    sweepsAt: SWEEPS,
    forgotCount: true,
  }),
  world(swept, 'another attempt after a day', ORDER, { secondAt: 1.2 * DAY, sweepsAt: SWEEPS }),
  world(['attempt 1', 'sweeper', 'late fence', 'client'], 'a fence after a day', ORDER, {
    lateFenceAt: 1.2 * DAY,
    sweepsAt: SWEEPS,
  }),
  world(
    ['attempt 1', 'late fence', 'client'],
    'the fence comes when the time is over, and attempt 1 sleeps until then',
    { preemptions: 1, faults: 1, sleepsUntil: [TOO_LATE] },
    { lateFenceAt: TOO_LATE },
  ),
  world(['attempt 1', 'sweeper', 'client'], 'a sweep meanwhile', ORDER, { sweepsAt: [0], mustAnswer: true }),
  world(
    ['attempt 1', 'sweeper', 'client'],
    'a sweep meanwhile, and the clock of the machine with the API 30 min behind',
    ORDER,
    { sweepsAt: [0], mustAnswer: true, apiAheadMs: -30 * 60_000, aheadMs: { 'attempt 1': -30 * 60_000 } },
  ),
  world(swept, 'answers are kept for 20 s', ORDER, { sweepsAt: [9000, 12_000], secondAt: 12_000, mustAnswer: true }),
  world(
    ['attempt 1', 'sweeper', 'client'],
    'nothing is left after a day',
    { preemptions: 0, faults: 1, crashes: true, lostReplies: ['EIO'], failures: ['EIO'] },
    { sweepsAt: [SWEEP_AT, 1.1 * DAY], leavesNothing: true },
  ),
  world(['attempt 1', 'cleaner', 'client'], 'another server removes the directory', { preemptions: 2, faults: 0 }),
  world(
    ['attempt 1', 'cleaner', 'client'],
    'nobody has the address yet, and another server removes its directory',
    { preemptions: 2, faults: 0 },
    { isNewAddress: true },
  ),
  world(['attempt 1', 'linker', 'client'], 'a link takes the place of the directory', { preemptions: 2, faults: 0 }),
  world(two, 'any client', ORDER, { target: 'all' }),
];

/** Two who take part, and the client: every order with two preemptions, and with one preemption and one fault. Then three, then all. */
export const smallWorlds: SmallWorld[] = [
  ...pairs.flatMap((parts) => [
    world(parts, 'two preemptions', { preemptions: 2, faults: 0 }, { isQuick: parts.length === 2 }),
    ...withOneFault(parts),
  ]),
  ...special,
  ...triples.flatMap(withOneFault),
  // The others die, look and hear wrongly as well.
  ...(['sweeper', 'fence'] as const).flatMap((other) =>
    (['a crash', 'a stale look', 'a lost reply'] as const).map((what) => {
      const bounds = { preemptions: 1, faults: 1, ...faults[what], hits: ['attempt 1', other, 'client'] };
      return world(['attempt 1', other, 'client'], `one preemption and ${what} of any of them`, bounds);
    }),
  ),
  world(all, 'three preemptions', { preemptions: 3, faults: 0 }),
];

/** Searches a small world. The stacks of errors, of which there are many, would take a third of the time. */
export async function search({ make, bounds }: SmallWorld, schedules: number, signal?: AbortSignal): Promise<Explored> {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return await withoutRealWorld(() => explore(make, { ...bounds, schedules, ...(signal && { signal }) }));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

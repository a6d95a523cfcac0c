import { type Bounds, type Explored, explore } from './search/explore.ts';
import type { Scene } from './search/schedule.ts';
import { type ClaimScene, claimScene, type Part } from './world/claim-scene.ts';
import { withoutRealWorld } from './world/no-real-world.ts';

/** A world that is small enough to be searched whole, and how far it is searched. */
export type SmallWorld = {
  name: string;
  make: () => Promise<Scene>;
  bounds: Bounds;
  /** Whether `npm test` searches it. */
  isQuick: boolean;
};

const ATTEMPTS = ['attempt 1', 'attempt 2'];
/** Longer than a lock: another worker has the execution. */
const ASLEEP_MS = 5000;
/** Longer than claims are kept: whoever wakes up then finds them swept. */
const LONG_ASLEEP_MS = 15 * 60_000;

/** The faults that are tried, one in a schedule. */
const faults: Record<string, Omit<Bounds, 'preemptions' | 'faults'>> = {
  'a crash': { crashes: true },
  'a process that stands still for 5 s': { freezes: [ASLEEP_MS] },
  'a stale look': { staleBy: 2 },
  'a lost reply': { lostReplies: 'EIO' },
  'a write that fails': { failures: ['ENOSPC', 'EACCES', 'EIO'] },
};
const longSleep: typeof faults = { 'a process that stands still for 15 min': { freezes: [LONG_ASLEEP_MS] } };

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

function world(parts: readonly Part[], what: string, bounds: Bounds, options: Partial<ClaimScene> = {}): SmallWorld {
  return {
    name: `${parts.join(', ')}: ${what}`,
    make: () => claimScene({ parts, staleBy: bounds.staleBy ?? 0, ...options }),
    bounds: { hits: ATTEMPTS, ...bounds },
    isQuick: parts.length === 2,
  };
}

function withOneFault(parts: readonly Part[]): SmallWorld[] {
  const all = parts.includes('sweeper') ? { ...faults, ...longSleep } : faults;
  return Object.entries(all).map(([what, bounds]) =>
    world(parts, `one preemption and ${what}`, { preemptions: 1, faults: 1, ...bounds }),
  );
}

/** Two who take part, and the client: every order with two preemptions, and with one preemption and one fault. Then three, then all. */
export const smallWorlds: SmallWorld[] = [
  ...pairs.flatMap((parts) => [world(parts, 'two preemptions', { preemptions: 2, faults: 0 }), ...withOneFault(parts)]),
  ...triples.flatMap(withOneFault),
  world(
    ['attempt 1', 'attempt 2', 'client'],
    'the queue store forgot attempt 1; one preemption and a write that fails',
    { preemptions: 1, faults: 1, failures: ['ENOSPC', 'EACCES'] },
    { forgotCount: true },
  ),
  world(all, 'three preemptions', { preemptions: 3, faults: 0 }),
];

/** Searches a small world. */
export function search({ make, bounds }: SmallWorld, withinMs: number): Promise<Explored> {
  return withoutRealWorld(() => explore(make, { ...bounds, withinMs }));
}

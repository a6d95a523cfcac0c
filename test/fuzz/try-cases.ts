import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import { inject } from 'vitest';
import type { Count } from './report.ts';

/** `FUZZ=full npm run test:fuzz`: ten times as many cases. */
const isFull = process.env.FUZZ === 'full';
const SHRINK_MS = 30_000;

type Options = {
  runs: number;
  /** Whether the cases go through a running service. */
  served: boolean;
  /** How many cases are under way at a time, each series with a seed of its own. */
  lanes?: number;
};

/** Tries `check` with random cases. What fails is made smaller, and told with the seed and path that bring it back. */
export async function tryCases<T>(
  what: string,
  cases: fc.Arbitrary<T>,
  check: (value: T, lane: number) => Promise<unknown> | unknown,
  { runs, served, lanes = 1 }: Options,
): Promise<void> {
  const numRuns = Math.ceil(runs / lanes) * (isFull ? 10 : 1);
  let tried = 0;
  const lane = async (number: number) => {
    let failedAt = 0;
    const property = fc.asyncProperty(cases, async (value) => {
      // Making a failure smaller must end some time: then every smaller case counts as good.
      if (failedAt > 0 && Date.now() > failedAt + SHRINK_MS) return;
      if (failedAt === 0) tried++;
      try {
        await check(value, number);
      } catch (error) {
        failedAt ||= Date.now();
        throw error;
      }
    });
    await fc.assert(property, { numRuns, seed: mixed(inject('fuzzSeed') + number), verbose: 1 });
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, (_, number) => lane(number)));
  const count: Count = { what, cases: tried, served };
  appendFileSync(inject('fuzzCounts'), `${JSON.stringify(count)}\n`);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Seeds next to each other begin alike: this makes them differ in every bit. */
function mixed(seed: number): number {
  let bits = Math.imul(seed ^ (seed >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return bits ^ (bits >>> 16);
}

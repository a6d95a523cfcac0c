import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Time, type Timer, timeOf } from '../../src/shared/seams/time.ts';
import { createScheduler } from './world/scheduler.ts';

/** Far enough apart that a real clock keeps them in order. */
const TICK_MS = 15;

type Command = { kind: 'set'; ticks: number; nested: number | null } | { kind: 'clear'; which: number };

const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('set' as const),
      ticks: fc.integer({ min: 0, max: 4 }),
      nested: fc.option(fc.integer({ min: 1, max: 3 })),
    }),
    fc.record({ kind: fc.constant('clear' as const), which: fc.integer({ min: 0, max: 5 }) }),
  ),
  { minLength: 1, maxLength: 10 },
);

/** Sets and clears timers, some of which set another one; what fires is told in its order. */
function run(time: Time, given: readonly Command[]): string[] {
  const fired: string[] = [];
  const timers: Timer[] = [];
  for (const [index, command] of given.entries()) {
    if (command.kind === 'clear') {
      time.clearTimeout(timers[command.which]);
      continue;
    }
    const fire = () => {
      fired.push(String(index));
      if (command.nested !== null) time.setTimeout(() => fired.push(`${index} again`), command.nested * TICK_MS);
    };
    timers.push(time.setTimeout(fire, command.ticks * TICK_MS));
  }
  return fired;
}

async function simulated(given: readonly Command[]): Promise<string[]> {
  const scheduler = createScheduler(0);
  scheduler.start('one');
  const fired = run(scheduler.timeOf('one'), given);
  for (;;) {
    const [next] = scheduler.ready();
    const nextAt = scheduler.nextAt();
    if (next) await scheduler.make(next);
    else if (nextAt === undefined) return fired;
    else scheduler.passTo(nextAt);
  }
}

async function real(given: readonly Command[]): Promise<string[]> {
  const fired = run(timeOf(), given);
  await new Promise((resolve) => setTimeout(resolve, 8 * TICK_MS + 30));
  return fired;
}

/** Two that are due within one tick of each other may come in either order where one was set by another. */
const own = (fired: readonly string[]) => fired.filter((name) => !name.endsWith('again'));

/** The first of so many real runs that comes to what is expected; else the last. */
async function oneOf(runs: number, given: readonly Command[], expected: readonly string[]): Promise<string[]> {
  const fired = await real(given);
  return runs === 1 || own(fired).join() === expected.join() ? fired : oneOf(runs - 1, given, expected);
}

describe('simulated time', () => {
  it('fires timers in the order in which real ones fire', async () => {
    const sequences = fc.sample(commands, { numRuns: 300, seed: 20_260_101 });
    // At once, so that the real ones take no longer than one of them.
    const outcomes = await Promise.all(sequences.map(async (given) => ({ given, fired: await real(given) })));
    for (const { given, fired } of outcomes) {
      const expected = own(await simulated(given));
      // Real ones that are late on a busy machine may change places: they get another chance, alone.
      const seen = own(fired).join() === expected.join() ? fired : await oneOf(5, given, expected);
      expect(expected, JSON.stringify(given)).toEqual(own(seen));
      expect([...(await simulated(given))].sort()).toEqual([...seen].sort());
    }
  });
});

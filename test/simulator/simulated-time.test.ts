import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Time, type Timer, timeOf } from '../../src/shared/ports/time.ts';
import { createScheduler } from './world/scheduler.ts';

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

/** The same on the fake timers of vitest (@sinonjs/fake-timers), which no busy machine delays. */
function faked(given: readonly Command[]): string[] {
  vi.useFakeTimers();
  try {
    const fired = run(timeOf(), given);
    vi.runAllTimers();
    return fired;
  } finally {
    vi.useRealTimers();
  }
}

/** Two that are due at one time may come in either order where one was set by another. */
const own = (fired: readonly string[]) => fired.filter((name) => !name.endsWith('again'));

describe('simulated time', () => {
  it('fires timers in the order in which Node does', async () => {
    for (const given of fc.sample(commands, { numRuns: 300, seed: 20_260_101 })) {
      const [seen, expected] = [await simulated(given), faked(given)];
      expect(own(seen), JSON.stringify(given)).toEqual(own(expected));
      expect([...seen].sort()).toEqual([...expected].sort());
    }
  });
});

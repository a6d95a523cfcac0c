import { expect, test } from 'vitest';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { timeOf } from '../../../src/shared/ports/time.ts';
import { within } from '../../../src/shared/runtime/async.ts';

test('a wait is over in its time, though the clock is set back meanwhile', () => {
  const clock = { now: 1_000_000, monotonic: 0 };
  const own = { ...timeOf(), now: () => clock.now, monotonic: () => clock.monotonic };
  createProcess(timeOf.as(own)).run(() => {
    const goOn = within(250);
    clock.now -= 90_000;
    expect(goOn()).toBe(true);
    clock.monotonic += 250;
    expect(goOn()).toBe(false);
  });
});

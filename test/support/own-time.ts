import { createProcess, type Process } from '../../src/shared/seams/process.ts';
import { randomOf } from '../../src/shared/seams/random.ts';
import { type Time, timeOf } from '../../src/shared/seams/time.ts';

/** What a sequence of draws is advanced by, so that however many of them are spread evenly between 0 and 1. */
const GOLDEN = 0.618_033_988_749_895;

export type OwnTime = Process & {
  /** Moves the clocks of the process. */
  pass(ms: number): void;
};

/** A process whose clocks move only when the test says so, and whose draws are spread evenly. It has no timers. */
export function createOwnTime(): OwnTime {
  let now = 1_000_000;
  let draws = 0;
  const noTimer = () => {
    throw new Error('this process has no timers');
  };
  const time: Time = {
    now: () => now,
    monotonic: () => now,
    setTimeout: noTimer,
    clearTimeout: noTimer,
    setImmediate: noTimer,
  };
  const random = { uuid: noTimer, hex: noTimer, fraction: () => (draws++ * GOLDEN) % 1 };
  return {
    ...createProcess(timeOf.as(time), randomOf.as(random)),
    pass(ms) {
      now += ms;
    },
  };
}

import { createProcess, type Process, randomOf } from '../../src/shared/ports/process.ts';
import { type Time, timeOf } from '../../src/shared/ports/time.ts';

/** What a sequence of draws is advanced by, so that however many of them are spread evenly between 0 and 1. */
const GOLDEN = 0.618_033_988_749_895;

export type OwnTimers = Process & {
  /** Moves the clocks of the process, and fires what is due on the way, in its order. */
  pass(ms: number): Promise<void>;
  /** Moves the clocks, while the process does nothing: what was due meanwhile fires when time passes again. */
  standStill(ms: number): void;
};

/** A process whose clocks move only when the test says so, and whose draws are spread evenly. */
export function createOwnTimers(): OwnTimers {
  let now = 1_000_000;
  let draws = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  const time: Time = {
    now: () => now,
    monotonic: () => now,
    setTimeout(run, ms) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return timer;
    },
    clearTimeout(timer) {
      for (const one of timers) if (one === timer) timers.delete(one);
    },
    setImmediate: (run) => void setImmediate(run),
  };
  const random = { ...randomOf(), fraction: () => (draws++ * GOLDEN) % 1 };
  const own = createProcess(timeOf.as(time), randomOf.as(random));
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const nextDue = (until: number) =>
    [...timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
  return {
    ...own,
    async pass(ms) {
      const until = now + ms;
      for (let due = nextDue(until); due; due = nextDue(until)) {
        now = Math.max(now, due.at);
        timers.delete(due);
        own.run(due.run);
        await settled();
      }
      now = until;
    },
    standStill(ms) {
      now += ms;
    },
  };
}

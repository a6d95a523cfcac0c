import { time } from '../ports/time.ts';
import type { WorkerLoad, WorkerRegistry } from './worker-registry.ts';

/** With fewer executions to begin, a queue says nothing about how fast workers are. */
const FEW = 200;
/** A worker stands still when it has executions and its report has not changed for so long. Its executions then do not count as a backlog. */
const STANDS_STILL_MS = 1000;
/** The rate of the workers is measured over the newest readings, as long as this together, and is believed for a while. Its first seconds are slow. */
const MEASURED_OVER_MS = 2500;
const BELIEVED_FOR_MS = 60_000;

type Loads = ReadonlyMap<string, WorkerLoad>;
type Reading = { at: number; count: number; loads: Loads };
type Interval = { endedAt: number; ms: number; begun: number };

export type Backlog = ReturnType<typeof createBacklog>;

/**
 * Counts the executions that are still to be begun: those that wait for a worker, and those that workers have and have not sent to a client.
 * So it knows how long a new call would wait behind them. The time that calls spend at a client, or waiting for a slot there, is no part of it.
 */
export function createBacklog({ workers }: { workers: Pick<WorkerRegistry, 'loads'> }) {
  let last: Reading | undefined;
  let intervals: Interval[] = [];
  let perMs: number | undefined;
  let added = 0;
  const progress = watchProgress();

  return {
    /** Reads the loads of the workers. `waiting`: executions that none of them has. */
    async update(waiting: number): Promise<void> {
      const loads = await workers.loads();
      const at = time.monotonic();
      const count = waiting + progress.busy(loads, at);
      // Only where there was enough to do all the time, the number that was begun says how many could be.
      if (last && last.count >= FEW)
        intervals.push({ endedAt: at, ms: at - last.at, begun: begunBetween(last.loads, loads) });
      intervals = intervals.filter(({ endedAt }) => endedAt > at - BELIEVED_FOR_MS);
      // Workers that begin nothing are no reason to take more calls.
      perMs = rateOf(intervals) ?? (intervals.length > 0 ? perMs : undefined);
      last = { at, count, loads };
      added = 0;
    },
    /** This API put an execution on the queue. */
    added(): void {
      added++;
    },
    /** For how many ms a new call would wait until a worker begins it; 0 while that is short, or not known. */
    delayMs(): number {
      if (!last || perMs === undefined) return 0;
      const count = last.count + added - perMs * (time.monotonic() - last.at);
      return count < FEW ? 0 : count / perMs;
    },
  };
}

/** Adds up what workers have, without those that stand still. */
function watchProgress() {
  let changed = new Map<string, WorkerLoad & { at: number }>();
  return {
    busy(loads: Loads, at: number): number {
      const before = changed;
      changed = new Map();
      let sum = 0;
      for (const [id, { busy, begun }] of loads) {
        const last = before.get(id);
        const isSame = last?.busy === busy && last.begun === begun;
        changed.set(id, isSame ? last : { busy, begun, at });
        if (!isSame || at - last.at < STANDS_STILL_MS) sum += busy;
      }
      return sum;
    },
  };
}

/** A worker that was started anew counts from 0 again. */
function begunBetween(before: Loads, now: Loads): number {
  return [...now].reduce((sum, [id, { begun }]) => sum + Math.max(0, begun - (before.get(id)?.begun ?? begun)), 0);
}

/** Executions begun a ms; undefined while too little is known. */
function rateOf(intervals: readonly Interval[]): number | undefined {
  let [ms, begun] = [0, 0];
  for (const interval of intervals.toReversed()) {
    if (ms >= MEASURED_OVER_MS) break;
    ms += interval.ms;
    begun += interval.begun;
  }
  return ms < MEASURED_OVER_MS || begun === 0 ? undefined : begun / ms;
}

import { time } from '../ports/time.ts';
import type { WorkerReports } from './worker-registry.ts';

/** With fewer executions to begin, a queue says nothing about how fast workers are. */
const FEW = 200;
/** The rate of the workers is measured over the newest readings, as long as this together, and is believed for a while. Its first seconds are slow. */
const MEASURED_OVER_MS = 2500;
const BELIEVED_FOR_MS = 60_000;

type Reading = { at: number; count: number; reports: WorkerReports };
type Interval = { endedAt: number; ms: number; begun: number };

export type Backlog = ReturnType<typeof createBacklog>;

/**
 * Counts the executions that are still to be begun: those that wait for a worker, and those that workers have and have not sent to a client.
 * So it knows how long a new call would wait behind them. The time that calls spend at a client, or waiting for a slot there, is no part of it.
 */
export function createBacklog() {
  let last: Reading | undefined;
  let intervals: Interval[] = [];
  let perMs: number | undefined;
  let added = 0;

  return {
    /** `waiting`: executions that no worker has. `reports`: what the workers say now. */
    update(waiting: number, reports: WorkerReports): void {
      const at = time.monotonic();
      // Those of a worker that died or froze are to be begun as well: by others, once its report and its locks lapse.
      const count = [...reports.values()].reduce((sum, { busy }) => sum + busy, waiting);
      // Only where there was enough to do all the time, the number that was begun says how many could be.
      if (last && last.count >= FEW)
        intervals.push({ endedAt: at, ms: at - last.at, begun: begunBetween(last.reports, reports) });
      intervals = intervals.filter(({ endedAt }) => endedAt > at - BELIEVED_FOR_MS);
      // Workers that begin nothing are no reason to take more calls.
      perMs = rateOf(intervals) ?? (intervals.length > 0 ? perMs : undefined);
      last = { at, count, reports };
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

/** A worker that was started anew counts from 0 again. */
function begunBetween(before: WorkerReports, now: WorkerReports): number {
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

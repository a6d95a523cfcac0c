import { time } from '../../shared/seams/time.ts';
import type { Takers, WorkerLoad } from '../../shared/store/takers.ts';

/** With fewer executions to begin, a queue says nothing about how fast workers are, and nobody waits for long. */
const FEW = 200;
/** The rate of the workers is measured over the newest looks, as long as this together, and is believed for a while. */
const MEASURED_OVER_MS = 3000;
const MEASURED_AT_LEAST_MS = 500;
const BELIEVED_FOR_MS = 60_000;

type Look = { at: number; count: number; loads: ReadonlyMap<string, WorkerLoad> };
type Interval = { endedAt: number; ms: number; begun: number };

export type Backlog = ReturnType<typeof createBacklog>;

/**
 * What is still to be begun: executions that wait for a worker, and those that workers have and have not sent to a client. It knows how long
 * a new call would wait behind them. The time that calls spend at a client, or waiting for a slot there, is no part of it.
 */
export function createBacklog({ takers }: { takers: Pick<Takers, 'loads'> }) {
  let last: Look | undefined;
  let intervals: Interval[] = [];
  let perMs: number | undefined;
  let added = 0;

  return {
    /** Looks at the workers. `waiting`: executions that none of them has. */
    async look(waiting: number): Promise<void> {
      const loads = await takers.loads();
      const at = time.monotonic();
      const busy = [...loads.values()].reduce((sum, load) => sum + load.busy, 0);
      // Only where there was enough to do all the time, the number that was begun says how many could be.
      if (last && last.count >= FEW)
        intervals.push({ endedAt: at, ms: at - last.at, begun: begunBetween(last.loads, loads) });
      intervals = intervals.filter(({ endedAt }) => endedAt > at - BELIEVED_FOR_MS);
      perMs = rateOf(intervals);
      last = { at, count: waiting + busy, loads };
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
function begunBetween(before: ReadonlyMap<string, WorkerLoad>, now: ReadonlyMap<string, WorkerLoad>): number {
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
  return ms < MEASURED_AT_LEAST_MS || begun === 0 ? undefined : begun / ms;
}

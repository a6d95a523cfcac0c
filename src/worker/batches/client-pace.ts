import { LRUCache } from 'lru-cache';
import type { JobResult } from '../../shared/contract/job.ts';
import type { Client } from '../clients/client.ts';

/** An interactive call waits behind a batch for no longer than this, at a client that runs one rule after the other. */
const BUSY_MS = 500;
const SAMPLES = 10;
/** After so many answers without a measurement, two items at once are sent, so that there is something to measure. */
const TRIED_AFTER = 2;
/** How many pairs of client and rule are remembered. */
const KNOWN = 5000;

type Pace = { samples: number[]; answers: number; lastAnsweredAt: number };

/** How many items of batches a client may have at once. A key stands for a client and a rule: each rule takes its own time. */
export function createClientPace() {
  // `max` would make the cache allocate for all entries up front.
  const paces = new LRUCache<string, Pace>({ maxSize: KNOWN, sizeCalculation: () => 1 });

  return {
    /** Our own SDK runs rules side by side, every published one on the thread that polls. */
    limitFor({ sdk }: Pick<Client, 'sdk'>, key: string, concurrency: number): number {
      if (sdk === 'node') return concurrency;
      const pace = paces.get(key);
      if (!pace || pace.answers < TRIED_AFTER) return 1;
      const runMs = median(pace.samples);
      if (runMs === undefined) return Math.min(concurrency, 2);
      return Math.max(1, Math.min(concurrency, Math.floor(BUSY_MS / Math.max(1, runMs))));
    },

    /** Learns from one answer how long a rule runs: since the pick-up, or since the client's answer before it. */
    answered(key: string, { steps = [], answeredAt }: Pick<JobResult, 'steps' | 'answeredAt'>): void {
      if (answeredAt === undefined) return;
      const pace = paces.get(key) ?? { samples: [], answers: 0, lastAnsweredAt: 0 };
      paces.set(key, pace);
      const at = (state: string) => steps.find((step) => step.state === state)?.at;
      const dispatchedAt = at('dispatched') ?? answeredAt;
      // A request that waited behind another run began when that run was answered.
      const begunAt = at('picked-up') ?? (pace.lastAnsweredAt > dispatchedAt ? pace.lastAnsweredAt : undefined);
      pace.answers++;
      if (begunAt !== undefined) pace.samples = [...pace.samples, Math.max(0, answeredAt - begunAt)].slice(-SAMPLES);
      pace.lastAnsweredAt = Math.max(pace.lastAnsweredAt, answeredAt);
    },
  };
}
export type ClientPace = ReturnType<typeof createClientPace>;

function median(values: readonly number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

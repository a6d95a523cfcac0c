import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';

/** `CHAOS=full npm run test:chaos`: more calls, longer faults, and the report is written to docs/internals/reliability.md. */
export const isFull = process.env.CHAOS === 'full';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the rows of the report are collected. */
    chaosRows: string;
  }
}

/** What was measured under one fault. */
export type Measured = {
  fault: string;
  promise: string;
  test: string;
  calls: number;
  /** Answered with 503, and either never dispatched or said to be unknown. */
  refused: number;
  /** The longest that such a caller waited to hear that. */
  refusedMs: number;
  /** The longest that an open call waited for its answer beyond the client's time and the fault's. */
  takeoverMs: number;
  /** Calls that got neither their own answer nor an honest refusal. */
  lost: number;
  /** Requests that a client found more than once. */
  twice: number;
};

/** What a load did. Memory is the most that one process of a kind ever had, in bytes. */
export type MeasuredLoad = {
  load: string;
  calls: number;
  refused: number;
  lost: number;
  twice: number;
  /** What calls of other clients took at the same time (median); null when there were none. */
  othersMs: number | null;
  /** How late the event loops of the service were at that time, the worst of all. */
  lag: { p99: number; max: number };
  memory: { api: number; worker: number; redis: number };
};

/** How a master was replaced. */
export type MeasuredFailOver = {
  failOver: string;
  promise: string;
  test: string;
  calls: number;
  refused: number;
  /** From the moment that another server is master to the first answer of a call made during the fault. */
  againMs: number;
  /** The longest that an open call waited after it. */
  openMs: number;
  lost: number;
  twice: number;
};

export function recordFailOver(measured: MeasuredFailOver): void {
  appendFileSync(inject('chaosRows'), `${JSON.stringify(measured)}\n`);
}

export function recordLoad(measured: MeasuredLoad): void {
  appendFileSync(inject('chaosRows'), `${JSON.stringify(measured)}\n`);
}

export function record(measured: Measured): void {
  appendFileSync(inject('chaosRows'), `${JSON.stringify(measured)}\n`);
}

import type { Telemetry } from 'bullmq';

/** Traces, if any are wanted. Nothing of OpenTelemetry is loaded when they are not. */
export type Tracing = {
  /** For BullMQ: carries the trace of a call with its job. Undefined when nothing is traced. */
  telemetry: Telemetry | undefined;
  /** Tells of a part of what is going on at the moment, from one time to another (epoch ms). `failed`: it ended in an error. */
  part(name: string, from: number, to: number, told?: { attributes?: Record<string, string>; failed?: boolean }): void;
  /** The trace that is going on at the moment, as W3C Trace Context writes it; undefined when there is none. */
  traceparent(): string | undefined;
  /** Sends what has not been sent. */
  stop(): Promise<void>;
};

export const noTracing: Tracing = {
  telemetry: undefined,
  part() {},
  traceparent: () => undefined,
  async stop() {},
};

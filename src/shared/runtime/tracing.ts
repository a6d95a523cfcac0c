import type { Telemetry } from 'bullmq';

/** Traces, if any are wanted. Nothing of OpenTelemetry is loaded when they are not. */
export type Tracing = {
  /** For BullMQ: carries the trace of a call with its job. Undefined when nothing is traced. */
  telemetry: Telemetry | undefined;
  /** Tells of a part of what is going on at the moment, from one time to another (epoch ms). */
  part(name: string, from: number, to: number, attributes?: Record<string, string>): void;
  /** Sends what has not been sent. */
  stop(): Promise<void>;
};

export const noTracing: Tracing = { telemetry: undefined, part() {}, async stop() {} };

/** Traces to an OTLP endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT`), or none without one. `role` names the service. */
export async function openTracing(endpoint: string | undefined, role: string): Promise<Tracing> {
  if (endpoint === undefined) return noTracing;
  const { startTracing } = await import('./otel-tracing.ts');
  return startTracing(endpoint, role);
}

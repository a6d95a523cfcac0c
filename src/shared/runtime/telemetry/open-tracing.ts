import { noTracing, type Tracing } from './tracing.ts';

/** Traces to an OTLP endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT`), or none without one. `of`: which service, and of which version. */
export async function openTracing(
  endpoint: string | undefined,
  of: { role: string; version: string },
): Promise<Tracing> {
  if (endpoint === undefined) return noTracing;
  const { startTracing } = await import('./otel-tracing.ts');
  return startTracing(endpoint, of);
}

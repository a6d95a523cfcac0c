import { errnoOf } from '../errno.ts';
import { noTracing, type Tracing } from './tracing.ts';

/**
 * Traces to an OTLP endpoint (`OTEL_EXPORTER_OTLP_ENDPOINT`), or none without one. `of`: which service, and of which version.
 * `packages` send them, and need not be installed: the error names them.
 */
export async function openTracing(
  endpoint: string | undefined,
  of: { role: string; version: string; packages: readonly string[] },
): Promise<Tracing> {
  if (endpoint === undefined) return noTracing;
  const { startTracing } = await import('./otel-tracing.ts').catch((error) => {
    if (errnoOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send traces are not installed: npm install ${of.packages.join(' ')}`,
    );
  });
  return startTracing(endpoint, of);
}

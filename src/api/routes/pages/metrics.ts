import { Hono } from 'hono';
import type { Metrics } from '../../../shared/runtime/telemetry/metrics.ts';
import { needs } from '../../access/authenticate.ts';
import type { Environment } from '../../http/environment.ts';

/** /metrics in the format of Prometheus. */
export function metricsRoutes({ registry }: Metrics) {
  return new Hono<Environment>().get('/metrics', needs('ops'), async (context) =>
    context.body(await registry.metrics(), 200, { 'content-type': registry.contentType }),
  );
}

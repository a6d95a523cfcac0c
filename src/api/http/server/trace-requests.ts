import type { Context, MiddlewareHandler } from 'hono';
import { routeOf } from '../../api-metrics.ts';

/** The middleware that begins a trace with each request. Loaded only when there are traces. */
export async function loadRequestTracing(): Promise<MiddlewareHandler> {
  const { httpInstrumentationMiddleware } = await import('@hono/otel');
  const spanNameFactory = (context: Context) => `${context.req.method} ${routeOf(context)}`;
  return httpInstrumentationMiddleware({ spanNameFactory, captureActiveRequests: false });
}

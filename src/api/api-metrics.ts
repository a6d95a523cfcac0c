import type { Context } from 'hono';
import { matchedRoutes } from 'hono/route';
import { Counter, Histogram } from 'prom-client';
import type { Metrics } from '../shared/runtime/telemetry/metrics.ts';
import type { Layer } from './http/middleware.ts';
import type { QueueHealth } from './queue-health.ts';

const SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 90];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** The gauges of an API process. Those about the queue are the same on every API: take their maximum. */
export function registerApiMetrics(metrics: Metrics, health: QueueHealth, openCalls: () => number): void {
  metrics.gauge('open_calls', 'Executions this API waits for.', openCalls);
  metrics.gauge('queue_store_up', 'Whether the queue store answers and takes writes.', () => (health.up ? 1 : 0));
  metrics.gauge('queue_waiting', 'Executions that wait for a worker.', () => health.waiting);
  metrics.gauge('queue_active', 'Executions that a worker has.', () => health.active);
  metrics.gauge(
    'workers',
    'Worker processes that take executions; one that died or froze counts for 5 s more.',
    () => health.workers,
  );
}

export type RequestMetrics = ReturnType<typeof createRequestMetrics>;

/** Counts requests by route, method and status, and how long they took. */
export function createRequestMetrics({ registry }: Metrics) {
  const requests = new Counter({
    name: 'rule_server_http_requests_total',
    help: 'HTTP requests by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'rule_server_http_request_seconds',
    help: 'How long HTTP requests took until their answer began, by route.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers: [registry],
  });
  const count = (labels: { route: string; method: string; status: number }) => requests.inc(labels);
  const measure: Layer = (context) => {
    const startedAt = performance.now();
    return () => {
      const route = routeOf(context);
      const method = METHODS.has(context.req.method) ? context.req.method : 'other';
      count({ route, method, status: context.res.status });
      seconds.observe({ route }, (performance.now() - startedAt) / 1000);
    };
  };

  return {
    measure,
    count,
    /** Prometheus sees an increase only where there was a value before: the first fault of a route must not go unseen. */
    expectFaults(routes: readonly { method: string; path: string }[]): void {
      for (const { method, path } of routes)
        if (METHODS.has(method) && !path.includes('*'))
          requests.inc({ route: routeNameOf(path), method, status: 500 }, 0);
    },
  };
}

/** The route that answers a request, as it is written in the code; `other` when there is none. */
export function routeOf(context: Context): string {
  const path = matchedRoutes(context).findLast((route) => !route.path.includes('*'))?.path;
  return path === undefined ? 'other' : routeNameOf(path);
}

/** Hashed assets count as one route, because their names change with each release and each would be a new series. */
const routeNameOf = (path: string): string => (path.startsWith('/assets/') ? '/assets/*' : path);

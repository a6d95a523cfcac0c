import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { createRequestMetrics } from '../../../src/api/api-metrics.ts';
import type { Environment } from '../../../src/api/http/environment.ts';
import { layers } from '../../../src/api/http/middleware.ts';
import { createMetrics } from '../../../src/shared/runtime/telemetry/metrics.ts';

it('built files, whose names change with each release, are one route in the metrics', async () => {
  const metrics = createMetrics();
  const requests = createRequestMetrics(metrics);
  const app = new Hono<Environment>().use(layers(requests.measure));
  for (const name of ['index-a1.js', 'index-b2.css']) app.get(`/assets/${name}`, ({ text }) => text(''));
  requests.expectFaults(app.routes);
  for (const name of ['index-a1.js', 'index-b2.css', 'index-a1.js']) await app.request(`/assets/${name}`);
  const series = (await metrics.registry.getMetricsAsJSON()).find(({ name }) => name.endsWith('http_requests_total'));
  expect(series?.values).toMatchObject([
    { labels: { route: '/assets/*', method: 'GET', status: 500 }, value: 0 },
    { labels: { route: '/assets/*', method: 'GET', status: 200 }, value: 3 },
  ]);
});

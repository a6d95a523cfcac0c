import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';

const target = z.object({ expr: z.string(), legendFormat: z.string().optional(), refId: z.string() });
const panel = z.object({
  id: z.int(),
  type: z.enum(['stat', 'timeseries']),
  title: z.string().min(1),
  datasource: z.object({ type: z.literal('prometheus'), uid: z.literal('$' + '{datasource}') }),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int().positive(), h: z.int().positive() }),
  targets: z.array(target).min(1),
});
const dashboard = z
  .object({
    uid: z.string().regex(/^[\w-]{1,40}$/),
    title: z.string().min(1),
    schemaVersion: z.int().min(36),
    templating: z.object({
      list: z.array(
        z.object({ name: z.literal('datasource'), type: z.literal('datasource'), query: z.literal('prometheus') }),
      ),
    }),
    panels: z.array(panel).min(1),
  })
  .parse(JSON.parse(read('deploy/grafana/dashboard.json')));

it('every panel of the dashboard has a place of its own, and a legend made of labels its query keeps', () => {
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const cells = dashboard.panels.flatMap(({ title, gridPos: { x, y, w, h } }) => {
    expect(x + w, title).toBeLessThanOrEqual(24);
    return Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
  for (const { title, targets } of dashboard.panels) {
    expect(new Set(targets.map(({ refId }) => refId)).size, title).toBe(targets.length);
    for (const { expr, legendFormat = '' } of targets) {
      const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */);
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        expect(kept ?? ['job', 'instance'], `${title}: ${expr}`).toContain(label);
    }
  }
});

it('Grafana finds the dashboard and the Prometheus where the composition puts them', () => {
  const compose = read('docker-compose.yml');
  const provider = read('deploy/grafana/provisioning/dashboards/rule-server.yml');
  const source = read('deploy/grafana/provisioning/datasources/prometheus.yml');
  const folder = /path: (\S+)/.exec(provider)?.[1];
  expect(folder).toMatch(/^\//);
  expect(compose).toContain(`./deploy/grafana/dashboard.json:${folder}/`);
  expect(compose).toContain(`GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: ${folder}/rule-server.json`);
  expect(compose).toContain('./deploy/grafana/provisioning:/etc/grafana/provisioning:ro');
  expect(source).toContain('url: http://prometheus:9090');
  expect(compose).toMatch(/\n {2}prometheus:\n(?: {4}.*\n)*? {6}- .*:9090"\n/);
});

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

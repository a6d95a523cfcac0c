import { expect, it } from 'vitest';
import { operations } from '../../src/api/openapi/document.ts';
import { outcomes } from '../../src/shared/reasons/codes.ts';
import { seriesIn } from '../support/promtool.ts';
import { type Service, startService } from '../support/start-service.ts';

/** Prometheus sees an increase only where there was a value before it. */
const atStart = async (service: Service) => seriesIn((await service.call('/metrics')).text);

it('every end of an execution is counted from 0 on, before one has ended', async () => {
  await using service = await startService();
  const series = await atStart(service);
  const ends = [
    ...Object.entries(outcomes).map(([code, { state }]) => ({ state, code })),
    ...['succeeded', 'failed'].map((state) => ({ state, code: 'answered' })),
  ];
  const names = ends.map(({ state, code }) => `rule_server_executions_total{state="${state}",code="${code}"}`);
  expect(names.filter((name) => series.get(name) !== 0)).toEqual([]);
});

it('faults of every route are counted from 0 on, before there is one', async () => {
  await using service = await startService({ workers: 0 });
  const series = await atStart(service);
  const names = operations
    .filter(({ path }) => path.startsWith('/rule-server/'))
    .map(({ method, path }) => {
      const route = path.replaceAll(/\{(\w+)\}/g, ':$1');
      return `rule_server_http_requests_total{route="${route}",method="${method.toUpperCase()}",status="500"}`;
    });
  expect(names.length).toBeGreaterThan(15);
  expect(names.filter((name) => series.get(name) !== 0)).toEqual([]);
});

it('refusals at a limit, and fences, are counted from 0 on', async () => {
  await using service = await startService();
  const series = await atStart(service);
  const names = [
    ...['callsPerSecond', 'openCalls', 'streams', 'batches'].map(
      (limit) => `rule_server_limited_total{limit="${limit}"}`,
    ),
    ...['fenced', 'claimed', 'unknown'].map((outcome) => `rule_server_fences_total{outcome="${outcome}"}`),
  ];
  expect(names.filter((name) => series.get(name) !== 0)).toEqual([]);
});

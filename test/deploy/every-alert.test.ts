import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/shared/runtime/telemetry/metrics.ts';
import { countByApp, registerWorkerMetrics } from '../../src/worker/process/worker-metrics.ts';
import { fires, isSilent, seriesIn, testAlerts } from '../support/promtool.ts';
import { hasPrometheus } from '../support/start-prometheus.ts';
import { startService } from '../support/start-service.ts';
import { sweepLater } from '../support/sweep-later.ts';

const ALERTS = join(import.meta.dirname, '../../deploy/prometheus/alerts.yml');
const LAG = 'nodejs_eventloop_lag_p99_seconds';
const canTest = await hasPrometheus();
const lag = (job: string, seconds: number) => ({ series: `${LAG}{job="${job}"}`, values: `${seconds}x30` });

describe('each alert', () => {
  it('is caused in a test, live or with series', () => {
    const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/^ *- alert: (\w+)$/gm)].map(([, name]) => name);
    expect(alerts.length).toBeGreaterThan(15);
    const caused = new Set(testFiles().flatMap(causedIn));
    expect(alerts.filter((name) => name === undefined || !caused.has(name))).toEqual([]);
    expect([...caused].filter((name) => !alerts.includes(name))).toEqual([]);
  });

  it.skipIf(!canTest)('RuleServerEventLoopLag (needs Prometheus): of our jobs, beyond a quarter', async () => {
    expect(await createMetrics({ ofProcess: true }).registry.metrics()).toContain(`\n${LAG} `);
    await testAlerts([lag('rule-server-worker', 0.3)], [isSilent('RuleServerEventLoopLag', '4m')]);
    await testAlerts([lag('rule-server-worker', 0.3)], [fires('RuleServerEventLoopLag', '6m')]);
    await testAlerts([lag('rule-server-api', 0.3)], [fires('RuleServerEventLoopLag', '6m')]);
    await testAlerts([lag('rule-server-api', 0.2)], [isSilent('RuleServerEventLoopLag', '14m')]);
    await testAlerts([lag('another', 0.3)], [isSilent('RuleServerEventLoopLag', '14m')]);
  });

  it.skipIf(!canTest)('RuleServerClientNotPickingUp (needs Prometheus): of any app, on any worker', async () => {
    const of = (app: number, worker: string, count: number) => ({
      series: `rule_server_clients_not_picking_up{app="${app}",instance="${worker}"}`,
      values: `${count}x30`,
    });
    const healthy = [of(7, 'one', 0), of(7, 'other', 0)];
    await testAlerts(healthy, [isSilent('RuleServerClientNotPickingUp', '14m')]);
    const lying = [...healthy, of(8, 'one', 2), of(8, 'other', 2)];
    await testAlerts(lying, [
      isSilent('RuleServerClientNotPickingUp', '4m'),
      fires('RuleServerClientNotPickingUp', '6m'),
    ]);
  });

  it.skipIf(!canTest)('RuleServerAppUnanswered (needs Prometheus): a small app beside a busy one', async () => {
    const of = (app: number, outcome: string, values: string) => ({
      series: `rule_server_app_executions_total{app="${app}",outcome="${outcome}",instance="one"}`,
      values,
    });
    const busy = [of(7, 'answered', '0+1000x60'), of(7, 'unanswered', '0+10x60')];
    await testAlerts(busy, [isSilent('RuleServerAppUnanswered', '25m')]);
    const dead = [...busy, of(8, 'answered', '0x60'), of(8, 'unanswered', '0+1x60')];
    await testAlerts(dead, [isSilent('RuleServerAppUnanswered', '3m'), fires('RuleServerAppUnanswered', '25m')]);
  });

  it.skipIf(!canTest)('RuleServerSweepFindings (needs Prometheus): what a sweep of 21 files tells', async () => {
    await using service = await startService({ leavesFiles: true });
    const { metrics, swept } = workerMetrics();
    const findings = async () =>
      [...seriesIn(await metrics.registry.metrics())].filter(([name]) => /findings/.test(name));
    const before = await findings();
    const directory = join(service.sharedDir, 'mock/1/client');
    await mkdir(directory, { recursive: true });
    for (let count = 0; count < 21; count++) await writeFile(join(directory, `${randomUUID()}.json`), '{}');
    await sweepLater(service.sharedDir, { onSwept: swept });
    expect(await readdir(directory)).toEqual([]);
    const after = new Map(await findings());
    const series = before.map(([name, value]) => ({ series: name, values: `${value}x20 ${after.get(name)}x20` }));
    await testAlerts(series, [isSilent('RuleServerSweepFindings', '9m'), fires('RuleServerSweepFindings', '11m')]);
  });
});

/** Those of a worker that has nothing to tell yet. */
function workerMetrics() {
  const metrics = createMetrics();
  const none = () => 0;
  const noticing = () => ({ event: 0, listing: 0, listingMs: 0, stretch: 1, share: 0 });
  const { swept } = registerWorkerMetrics(metrics, {
    ...{ capacity: 1, openWaits: none, takesJobs: () => true, storeUp: () => true, fileClockAheadMs: none },
    ...{ census: async () => undefined, byApp: countByApp(metrics), noticing, hanging: none },
  });
  return { metrics, swept };
}

function testFiles(): string[] {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  return names.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8'));
}

/** The alerts a test of this folder names in quotes: it waits until they fire, unless it says that they are silent. */
function causedIn(text: string): string[] {
  return [...text.matchAll(/(?<!isSilent\()'(RuleServer[A-Z]\w*)'/g)].flatMap(([, name]) => name ?? []);
}

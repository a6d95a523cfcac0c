import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import { startWorkerProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { hasPrometheus, startPrometheus } from '../support/start-prometheus.ts';

const DASHBOARD = join(import.meta.dirname, '../../deploy/grafana/dashboard.json');
const choice = inject('redis');
const canScrape = await hasPrometheus();

describe.skipIf(choice.kind === 'unavailable')('two APIs and three workers, each a process', () => {
  let redis: RedisServer;
  let processes: Processes;
  let client: Responder;
  const workerPorts: number[] = [];
  beforeAll(async () => {
    redis = await startRedis(choice);
    processes = await startProcesses({ queueUrl: redis.url, apis: 2, workers: 0 });
    const { sharedDir } = processes;
    for (const port of [await freePort(), await freePort(), await freePort()]) {
      workerPorts.push(port);
      const settings = { WORKER_PORT: port };
      processes.workers.push(await startWorkerProcess({ queueUrl: redis.url, sharedDir, settings }));
    }
    client = await createResponder({ sharedDir, app: 7, does: answers() });
  });
  afterAll(async () => {
    await client?.stop();
    await processes?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  const url = (api: 0 | 1) => processes.apis[api]?.url ?? '';
  it.skipIf(!canScrape)(
    'a real Prometheus scrapes all five, evaluates the alerts, and has data for the dashboard',
    async () => {
      const call = { method: 'POST', body: '{"app":7,"ruleId":42}' };
      for (const api of [0, 1, 0] as const) await httpCall(`${url(api)}/rule-server/mock/execute`, call);
      await using prometheus = await startPrometheus({
        'rule-server-api': [url(0), url(1)].map((at) => new URL(at).host),
        'rule-server-worker': workerPorts.map((port) => `127.0.0.1:${port}`),
      });
      const up = [...Array(2).fill('rule-server-api up'), ...Array(3).fill('rule-server-worker up')];
      await vi.waitFor(async () => expect(await prometheus.targets()).toEqual(up), 60_000);
      const answered = 'sum(rule_server_executions_total{code="answered"})';
      const counted = async () => Number((await prometheus.query(answered))[0]?.value[1]);
      await vi.waitFor(async () => expect(await counted()).toBe(client.found.length), 60_000);
      await vi.waitFor(async () => {
        const rules = await prometheus.rules();
        expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
        expect(rules.filter(({ state }) => state === 'firing')).toEqual([]);
        expect(rules.filter(({ type }) => type === 'alerting').length).toBeGreaterThan(14);
      }, 60_000);

      const { panels } = JSON.parse(await readFile(DASHBOARD, 'utf8'));
      for (const { title, targets } of panels) {
        for (const { expr } of targets) {
          const text = expr.replaceAll('$__rate_interval', '1m');
          const samples = await vi
            .waitUntil(async () => (await prometheus.query(text))[0], 10_000)
            .catch(() => undefined);
          expect(samples, `${title}: ${text}`).toBeDefined();
        }
      }
    },
  );
});

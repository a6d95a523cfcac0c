import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answers, createResponder, type Responder, resultText } from '../support/responder.ts';
import { startWorkerProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { hasPrometheus, startPrometheus } from '../support/start-prometheus.ts';
import { startTraceCollector, type TraceCollector } from '../support/trace-collector.ts';

const DASHBOARD = join(import.meta.dirname, '../../deploy/grafana/dashboard.json');
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const choice = inject('redis');
const canScrape = await hasPrometheus();

describe.skipIf(choice.kind === 'unavailable')('two APIs and three workers, each a process', () => {
  let redis: RedisServer;
  let collector: TraceCollector;
  let processes: Processes;
  let client: Responder;
  const workerPorts: number[] = [];
  beforeAll(async () => {
    redis = await startRedis(choice);
    collector = await startTraceCollector();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    processes = await startProcesses({ queueUrl: redis.url, apis: 2, workers: 0, settings });
    const { sharedDir } = processes;
    for (const port of [await freePort(), await freePort(), await freePort()]) {
      workerPorts.push(port);
      const more = { ...settings, WORKER_PORT: port };
      processes.workers.push(await startWorkerProcess({ queueUrl: redis.url, sharedDir, settings: more }));
    }
    client = await createResponder({ sharedDir, app: 7, does: answers() });
  });
  afterAll(async () => {
    await client?.stop();
    await processes?.[Symbol.asyncDispose]();
    await collector?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  const url = (api: 0 | 1) => processes.apis[api]?.url ?? '';
  const execute = (api: 0 | 1, headers: Record<string, string> = {}) =>
    httpCall(`${url(api)}/rule-server/mock/execute`, { method: 'POST', body: '{"app":7,"ruleId":42}', headers });

  it('an execution is followed at the API that did not take the call', async () => {
    const go = Promise.withResolvers<void>();
    client.does = async (request) => {
      await request.pickUp();
      await go.promise;
      await request.answer(resultText(request));
    };
    const before = client.found.length;
    const answer = execute(0);
    const { mockId } = await vi.waitUntil(() => client.found[before], 60_000);
    const stream = await openEventStream(`${url(1)}/rule-server/mock/executions/${mockId}/events`);
    const told = () => stream.events.map(({ event, data }) => (event === 'state' ? data.state : event));
    await vi.waitFor(() => expect(told()).toContain('picked-up'), 60_000);
    go.resolve();
    await stream.ended;
    expect(told()).toEqual(['snapshot', 'queued', 'dispatched', 'picked-up', 'succeeded']);
    expect((await answer).status).toBe(200);
    client.does = answers();
  });

  it('a call made at both under one Idempotency-Key runs once, and both get its answer', async () => {
    const before = client.found.length;
    const key = { 'idempotency-key': 'at both' };
    const [one, other] = await Promise.all([execute(0, key), execute(1, key)]);
    expect(one.status).toBe(200);
    expect(other.text).toBe(one.text);
    expect(client.found).toHaveLength(before + 1);
  });

  it('one trace has all spans of a call', async () => {
    await execute(0, { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01` });
    const spans = () => collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    const names = () => spans().map(({ name }) => name.split(' ')[0]);
    const all = ['POST', 'add', 'process', 'claim', 'pick-up', 'rule', 'result'];
    await vi.waitFor(() => expect(names()).toEqual(expect.arrayContaining(all)), 60_000);
    const known = ['00f067aa0ba902b7', ...spans().map(({ spanId }) => spanId)];
    for (const { name, parent } of spans()) expect(known, name).toContain(parent);
  });

  it.skipIf(!canScrape)(
    'a real Prometheus scrapes all five, evaluates the alerts, and has data for the dashboard',
    async () => {
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

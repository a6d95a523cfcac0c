import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answersAfter, createResponder, resultText, staysSilent } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { startTraceCollector } from '../support/trace-collector.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('traces', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis?.stop());
  // Each test has a directory of its own, so each needs a queue of its own.
  const ownQueue = async () => (await claimRedisDatabase(redis.url)).url;

  it('one trace goes from the HTTP call through the queue to the claim, the pick-up and the result', async () => {
    await using collector = await startTraceCollector();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    await using processes = await startProcesses({ queueUrl: await ownQueue(), settings });
    await using client = await createResponder({
      sharedDir: processes.sharedDir,
      app: 1,
      does: async (request) => {
        await new Promise((resolve) => setTimeout(resolve, 150));
        await request.pickUp();
        await new Promise((resolve) => setTimeout(resolve, 1500)); // a busy machine notices the pick-up late
        await request.answer(resultText(request, { 'the service': { out: 'secretOutput' }, process: 'secretTrace' }));
      },
    });
    const headers = { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` };
    const body = { app: 1, ruleId: 1, 'the service': { in: 'secretInput' } };
    expect((await processes.api.execute(body, { headers })).status).toBe(200);
    expect(client.found).toHaveLength(1);

    const inTrace = () => collector.spans.filter(({ traceId }) => traceId === TRACE_ID);
    const named = (name: string) => inTrace().find((span) => span.name === name);
    await vi.waitFor(() => expect(named('result')).toBeDefined(), { timeout: 60_000 });
    await vi.waitFor(() => expect(named('POST /rule-server/mock/execute')).toBeDefined(), { timeout: 60_000 });

    const [http, add] = [named('POST /rule-server/mock/execute'), inTrace().find(({ name }) => name.startsWith('add'))];
    const job = inTrace().find(({ name }) => name.startsWith('process'));
    expect(http).toMatchObject({ service: 'rule-server-api', parent: 'b7ad6b7169203331' });
    expect(add).toMatchObject({ service: 'rule-server-api', parent: http?.spanId });
    expect(job).toMatchObject({ service: 'rule-server-worker', parent: add?.spanId });
    for (const name of ['claim', 'pick-up', 'rule', 'result'])
      expect(named(name)).toMatchObject({ service: 'rule-server-worker', parent: job?.spanId });
    expect(named('pick-up')?.ms).toBeGreaterThan(100);
    expect(named('rule')?.ms).toBeGreaterThan(150);

    // The client can go on with it, and every line of a log that is about the call names it.
    expect(client.found[0]?.text).toContain(`"traceparent":"00-${TRACE_ID}-`);
    for (const { log } of [processes.api, ...processes.workers]) {
      const lines = log.filter(({ msg }) => msg === 'request' || msg === 'answered');
      expect(lines.map(({ trace_id }) => trace_id)).toEqual([TRACE_ID]);
    }
    const message = { 'messaging.system': 'bullmq', 'messaging.destination.name': 'executions' };
    expect(add?.told).toMatchObject({ ...message, 'messaging.operation.type': 'send' });
    expect(job?.told).toMatchObject({ ...message, 'messaging.operation.type': 'process' });
    expect(collector.bodies.join('')).toContain('service.instance.id');
    expect(inTrace().filter(({ failed }) => failed)).toEqual([]);

    const everything = collector.bodies.join('\n');
    for (const secret of ['secretInput', 'secretOutput', 'secretTrace']) expect(everything).not.toContain(secret);
  });

  it('of a call that nobody answers end in an error', async () => {
    await using collector = await startTraceCollector();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, RESULT_TIMEOUT_MS: 300 };
    await using processes = await startProcesses({ queueUrl: await ownQueue(), settings });
    await using _client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: staysSilent });
    expect((await processes.api.execute({ app: 1, ruleId: 1 })).status).toBe(504);
    const failed = () => collector.spans.filter((span) => span.failed).map(({ name }) => name);
    await vi.waitFor(() => expect(failed().sort()).toEqual(['POST /rule-server/mock/execute', 'result']), 60_000);
  });

  it('are made of requests alone: what queues do by themselves is not traced, and scrapes are not', async () => {
    await using collector = await startTraceCollector();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
    await using processes = await startProcesses({ queueUrl: await ownQueue(), settings });
    await using _client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: answersAfter(10) });
    await httpCall(`${processes.api.url}/healthz`);
    await httpCall(`${processes.api.url}/metrics`);
    await processes.api.execute({ app: 1, ruleId: 1 });
    await vi.waitFor(() => expect(collector.spans.some(({ name }) => name === 'result')).toBe(true), {
      timeout: 60_000,
    });
    await new Promise((resolve) => setTimeout(resolve, 2500)); // two more batches
    const roots = collector.spans.filter(({ parent }) => parent === '').map(({ name }) => name);
    expect(roots).toEqual(['POST /rule-server/mock/execute']);
  });

  it('that cannot be sent stop nobody, and a process ends without its collector', async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    await using processes = await startProcesses({ queueUrl: await ownQueue(), settings });
    await using _client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: answersAfter(10) });
    expect((await processes.api.execute({ app: 1, ruleId: 1 })).status).toBe(200);
    expect((await processes.api.terminate()).code).toBe(0);
  });

  it('load nothing when nobody wants them', async () => {
    const script = `
      const { openTracing } = await import('./src/shared/runtime/telemetry/open-tracing.ts');
      const { noTracing } = await import('./src/shared/runtime/telemetry/tracing.ts');
      await import('./src/services.ts');
      if ((await openTracing(undefined, 'api')) !== noTracing) throw new Error('traces');
      const { default: module } = await import('node:module');
      const loaded = Object.keys(module._cache ?? {});
      console.log(JSON.stringify(loaded.filter((path) => /opentelemetry.(?!api)|bullmq-otel|@hono.otel/.test(path))));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(JSON.parse(stdout)).toEqual([]);
  });
});

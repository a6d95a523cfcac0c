import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { httpCall } from '../support/http-call.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { answers, createResponder } from '../support/responder.ts';
import { startApiProcess, startWorkerProcess } from '../support/start-process.ts';
import { startProcesses } from '../support/start-processes.ts';
import { startTraceCollector } from '../support/trace-collector.ts';

describe.skipIf(!inject('hasRedisBinary'))('what processes write while Redis refuses', () => {
  const secret = 'secret-4711';

  it('names no input when Redis is full: not in logs, metrics or traces', async () => {
    await using collector = await startTraceCollector();
    const redis = await startRedisProcess();
    try {
      const settings = { LOG_LEVEL: 'trace', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
      await using processes = await startProcesses({ queueUrl: redis.url, settings });
      await using client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: answers() });
      const call = { app: 1, ruleId: 1, 'the service': { secret } };
      expect((await processes.api.execute(call)).status).toBe(200);
      expect(client.found[0]?.text).toContain(secret);
      await redis.setMaxMemory(1);
      const headers = { 'idempotency-key': secret };
      for (const more of [{}, { headers }]) expect((await processes.api.execute(call, more)).status).toBe(503);
      await redis.setMaxMemory(0);
      await expect.poll(() => collector.bodies.length, { timeout: 30_000 }).toBeGreaterThan(0);
      const { text: metrics } = await httpCall(`${processes.api.url}/metrics`);
      const logs = [...processes.apis, ...processes.workers].map(({ log }) => log);
      const written = JSON.stringify([logs, processes.noise(), collector.bodies, metrics]);
      expect(written).toContain('OOM command not allowed');
      expect(written).not.toContain(secret);
    } finally {
      await redis.stop();
    }
  });

  it('names no password when it is wrong', async () => {
    const redis = await startRedisProcess();
    const admin = new Redis(redis.url);
    try {
      await admin.call('ACL', 'SETUSER', 'service', 'on', '>another', '~*', '&*', '+@all');
      const queueUrl = redis.url.replace('redis://', `redis://service:${secret}@`);
      const options = { queueUrl, untilReady: false, settings: { LOG_LEVEL: 'trace' } };
      await using api = await startApiProcess(options);
      await using worker = await startWorkerProcess({ ...options, sharedDir: '/nonexistent' });
      for (const each of [api, worker]) {
        await expect.poll(() => JSON.stringify(each.log), { timeout: 30_000 }).toContain('WRONGPASS');
        expect([...each.log.map((line) => JSON.stringify(line)), ...each.noise].join('\n')).not.toContain(secret);
      }
    } finally {
      admin.disconnect();
      await redis.stop();
    }
  });
});

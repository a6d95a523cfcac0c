import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startApi } from '../../src/api/start.ts';
import { openQueueBackend } from '../../src/shared/queue/open-queue-backend.ts';
import { createMetrics } from '../../src/shared/runtime/telemetry/metrics.ts';
import { startWorker } from '../../src/worker/process/start.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { runCliWith } from '../support/run-cli.ts';
import { captureLog, quickSettings, startService } from '../support/start-service.ts';

const PASSWORD = 'the-password-of-a-user-in-this-test';
const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };

describe.skipIf(!inject('hasRedisBinary'))('a Redis that cannot serve', () => {
  it('because it may forget jobs, told so while a deployment runs: readiness says so until it is told otherwise', async () => {
    const redis = await start();
    await using service = await startService({ queueUrl: redis.url, logsErrors: true });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 1, does: echoes() });
    const readiness = () => service.call('/readyz');
    const ofWorker = () => service.workers[0]?.store();
    await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    const why = expect.stringContaining('maxmemory-policy allkeys-lru');
    await eventually(async () => {
      const { status, text } = await readiness();
      expect([status, text]).toEqual([503, why]);
      expect(ofWorker()).toMatchObject({ up: false, reason: why });
    });
    await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await eventually(async () => {
      expect((await readiness()).status).toBe(200);
      expect(ofWorker()).toMatchObject({ up: true });
    });
    expect((await service.execute(CALL)).status).toBe(200);
  });

  // Inside a script Redis does not name the command.
  it.each([
    { name: 'SET', told: /\bSET\b/ },
    { name: 'TIME', told: /may not use (TIME|a command) \(NOPERM\): doctor/ },
  ])('because its user may not use $name: readiness of the API and of the worker say so', async ({ name, told }) => {
    const redis = await start();
    const rights = ['on', `>${PASSWORD}`, '~*', '&*', '+@all', `-${name.toLowerCase()}`];
    await redisCommand(redis.url, 'ACL', 'SETUSER', 'limited', ...rights);
    const [settings, metrics, { log }] = [quickSettings(), createMetrics(), captureLog()];
    const open = () => openQueueBackend(urlOf(redis.url, 'limited'));
    const [ofApi, ofWorker] = [await open(), await open()];
    const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    const api = await startApi({ settings, backend: ofApi, log, metrics });
    const worker = await startWorker({ settings, backend: ofWorker, sharedDir, log });
    onTestFinished(async () => {
      await Promise.all([api.stop(), worker.stop()]);
      await Promise.all([ofApi.close(), ofWorker.close()]);
    });
    await eventually(async () => {
      const { status, text } = await httpCall(`${api.url}/readyz`);
      expect([status, text]).toEqual([503, expect.stringMatching(told)]);
      const { takesJobs, reason } = worker.state();
      expect([takesJobs, reason]).toEqual([false, expect.stringMatching(told)]);
    });
  });

  it('is one that can, to a user with the rights that doctor prints', async () => {
    const redis = await start();
    await using service = await startService({ queueUrl: redis.url });
    const { sharedDir } = service;
    const printed = await doctor({ REDIS_URL: redis.url, SHARED_DIR: sharedDir });
    const [, name = '', rights = ''] = /ACL SETUSER (\S+) ([^\n]+)/.exec(printed) ?? [];
    expect(rights).toMatch(/[~%]\S*rule-server/); // it is not for every key
    const given = rights.split(' ').filter((right) => !right.startsWith('>') && right !== 'on' && right !== 'nopass');
    await redisCommand(redis.url, 'ACL', 'SETUSER', name, 'on', `>${PASSWORD}`, ...given);
    await redisCommand(redis.url, 'ACL', 'SETUSER', 'default', 'off'); // nobody falls back to it
    await using limited = await startService({ queueUrl: urlOf(redis.url, name), sharedDir });
    await using _ = await createResponder({ sharedDir: limited.sharedDir, app: 1, does: echoes() });
    const headers = { 'idempotency-key': 'once' };
    for (let time = 0; time < 2; time++) expect((await limited.execute(CALL, { headers })).status).toBe(200);
    const at = (path: string) => limited.call(`/rule-server/mock/${path}`);
    expect((await at('executions?include=input')).json.items).toHaveLength(1);
    const begun = await limited.call('/rule-server/mock/batches', {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ app: 1, ruleId: 1, cases: [{ name: 'one' }] }),
    });
    await eventually(async () => expect((await at(`batches/${begun.json.batchId}`)).json.state).toBe('finished'));
    expect(limited.log.filter(({ level }) => level >= 40)).toEqual([]);
  });
});

async function start() {
  const redis = await startRedisProcess();
  onTestFinished(() => redis.stop());
  return redis;
}

function urlOf(url: string, user: string): string {
  const named = new URL(url);
  named.username = user;
  named.password = PASSWORD;
  return named.href;
}

/** What doctor says, with its advice. */
const doctor = async (environment: Record<string, string>) =>
  (await runCliWith({ environment }, 'doctor', '--url', 'http://127.0.0.1:1')).out;

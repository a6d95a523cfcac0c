import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { breaks, type RedisProxy, startRedisProxy } from '../support/redis-proxy.ts';
import { createResponder } from '../support/responder.ts';
import { type ApiProcess, startApiProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';

const RECORD = 'idempotency:';
const ANSWER = 'history:result:';
let apps = 0;

describe.skipIf(!inject('hasRedisBinary'))('an Idempotency-Key is not dead', () => {
  let redis: RedisProcess;
  let proxy: RedisProxy;
  let service: Processes;
  beforeAll(async () => {
    redis = await startRedisProcess({ appendOnly: true });
    proxy = await startRedisProxy(redis.url);
    // The second API and the workers have connections of their own, which stay.
    service = await startProcesses({ queueUrl: redis.url, apis: 1, workers: 1, settings: { QUEUE_TIMEOUT_MS: 3000 } });
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  it.each(breaks)('when the connection breaks as its call is recorded: %s', async (where) => {
    const broken = await apiBehindProxy();
    const { app, key } = fresh();
    await using client = await createResponder({ sharedDir: service.sharedDir, app, does: echoes() });
    proxy.cutAt(RECORD, where, 500);
    const first = await call(broken, app, key);
    // Once it is recorded, its API adds it again when it has a connection, unless it has noticed before that it has none.
    const isAnswered = where === 'after the reply' && first.status === 200;
    if (!isAnswered) {
      expect(first.json).toMatchObject({ code: expect.any(String), mayHaveRun: expect.any(Boolean) });
      expect(first.status).toBe(first.json.mayHaveRun ? 504 : 503);
    }
    const again = await call(service.api, app, key);
    expect(again).toMatchObject({ status: 200, json: { success: true } });
    expect((await call(service.api, app, key)).text).toBe(again.text);
    await delay(500); // what was still on its way would have come by now
    expect(client.found).toHaveLength(1);
  });

  it('when its API dies before the job is added: any API frees it, long before its claim could be swept', async () => {
    const dying = await apiBehindProxy();
    const { app, key } = fresh();
    await using client = await createResponder({ sharedDir: service.sharedDir, app, does: echoes() });
    await diesOnceRecorded(dying, app, key);
    expect(await hasRecord(redis, app, key)).toBe(true);
    // Whichever API looks first. If its worker is too busy to answer, the next look is 20 s later.
    await vi.waitUntil(async () => !(await hasRecord(redis, app, key)), { timeout: 60_000, interval: 250 });
    expect(client.found).toHaveLength(0);
    expect((await call(service.api, app, key)).status).toBe(200);
    expect(client.found).toHaveLength(1);
  });

  it('while no worker could tell whether it has begun it is kept, and said to be unknown', async () => {
    const dying = await apiBehindProxy();
    const { app, key } = fresh();
    await using client = await createResponder({ sharedDir: service.sharedDir, app, does: echoes() });
    for (const worker of service.workers) worker.freeze();
    await diesOnceRecorded(dying, app, key);
    const unknown = await call(service.api, app, key);
    expect(unknown).toMatchObject({ status: 504, json: { code: 'outcome-unknown', mayHaveRun: true } });
    expect(unknown.headers['retry-after']).toBe('2');
    for (const worker of service.workers) worker.wake();
    await vi.waitFor(async () => expect((await call(service.api, app, key)).status).toBe(200), {
      timeout: 60_000,
      interval: 500,
    });
    expect(client.found).toHaveLength(1);
  });

  it('the call that began it and was fenced follows the one that took its place', async () => {
    const slow = await apiBehindProxy();
    const { app, key } = fresh();
    await using client = await createResponder({ sharedDir: service.sharedDir, app, does: echoes() });
    const first = call(slow, app, key);
    const [, second] = await Promise.all([first, call(service.api, app, key)]);
    expect((await first).text).toBe(second.text);
    expect(client.found).toHaveLength(1);
  });

  it('a repeat gets the one answer, also when the connection breaks as its API reads that', async () => {
    const broken = await apiBehindProxy();
    // It may also read the answer from the job, at another moment: then once more.
    for (let attempt = 0; attempt === 0 || (proxy.isArmed && attempt < 5); attempt++) {
      const { app, key } = fresh();
      await using client = await createResponder({ sharedDir: service.sharedDir, app, does: echoes({ afterMs: 700 }) });
      const first = call(service.api, app, key);
      await vi.waitUntil(() => client.found.length > 0, { timeout: 60_000 });
      const repeat = call(broken, app, key);
      await delay(300); // it waits for the answer by now
      proxy.cutAt(ANSWER, 'before the command', 500);
      expect((await repeat).text).toBe((await first).text);
      expect(client.found).toHaveLength(1);
    }
    expect(proxy.isArmed).toBe(false);
  });

  /** Its API is killed between the record of a call and its job. */
  async function diesOnceRecorded(dying: ApiProcess, app: number, key: string): Promise<void> {
    proxy.cutAt(RECORD, 'after the reply', 5000);
    const cut = call(dying, app, key).catch(() => 'cut off');
    await vi.waitUntil(() => !proxy.isArmed, { timeout: 60_000 });
    await dying.kill();
    await cut;
  }

  async function apiBehindProxy(): Promise<ApiProcess> {
    const api = await startApiProcess({ queueUrl: proxy.url, settings: { QUEUE_TIMEOUT_MS: 3000 } });
    started.push(api);
    return api;
  }
});

const started: ApiProcess[] = [];
afterAll(() => Promise.all(started.map((api) => api.kill())));

/** Whether Redis has a record of the call under this key. */
async function hasRecord({ url }: RedisProcess, app: number, key: string): Promise<boolean> {
  const digest = createHash('sha256')
    .update(JSON.stringify([app, null, key]))
    .digest('hex');
  const found = await redisCommand(url, 'KEYS', `*${RECORD}${digest}`);
  return Array.isArray(found) && found.length === 1;
}

const fresh = () => ({ app: ++apps, key: randomUUID() });
const call = (api: ApiProcess, app: number, key: string) =>
  httpCall(`${api.url}/rule-server/mock/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ app, ruleId: 1, 'the service': { exact: 1 } }),
  });

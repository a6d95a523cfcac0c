import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { startRedisProxy } from '../support/redis-proxy.ts';
import { createResponder } from '../support/responder.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { startApiProcess } from '../support/start-process.ts';
import { startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

const settings = { POLL_INTERVAL_MS: 250, QUEUE_TIMEOUT_MS: 3000 };
const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });
const WITHIN = { timeout: 60_000, interval: 100 };

describe.skipIf(!inject('hasRedisBinary'))('when Redis takes no writes any more', () => {
  it('readiness, metrics and doctor say so, calls are refused, and all goes on when it does', async () => {
    const redis = await startRedis();
    const WORKER_PORT = await freePort();
    await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 0 });
    await processes.addWorker({ settings: { WORKER_PORT } });
    const { api, sharedDir } = processes;
    await using client = await createResponder({ sharedDir, app: 1, does: echoes() });
    const worker = `http://127.0.0.1:${WORKER_PORT}`;

    await redisCommand(redis.url, 'REPLICAOF', '127.0.0.1', '1');
    await eventually(async () => {
      expect(await httpCall(`${api.url}/readyz`)).toMatchObject({
        status: 503,
        json: { status: 'not ready', queue: 'down', reason: expect.stringContaining('READONLY') },
      });
      expect(await httpCall(`${worker}/readyz`)).toMatchObject({
        status: 503,
        json: { status: 'not ready', reason: expect.stringContaining('READONLY') },
      });
    });
    expect((await httpCall(`${api.url}/healthz`)).status).toBe(200);
    expect((await httpCall(`${api.url}/metrics`)).text).toMatch(/^rule_server_queue_store_up 0$/m);
    expect((await httpCall(`${worker}/metrics`)).text).toMatch(/^rule_server_worker_queue_store_up 0$/m);
    expect((await api.execute(bodyOf(1))).json).toMatchObject({ code: 'queue-unavailable', mayHaveRun: false });
    expect(await doctorSaysOfRedis(redis.url, sharedDir)).toMatchObject({ level: 'fail' });

    await redisCommand(redis.url, 'REPLICAOF', 'NO', 'ONE');
    await vi.waitFor(async () => expect((await api.execute(bodyOf(2))).status).toBe(200), WITHIN);
    await vi.waitFor(async () => expect((await httpCall(`${worker}/readyz`)).status).toBe(200), WITHIN);
    expect(await api.isReady()).toBe(true);
    expect(await doctorSaysOfRedis(redis.url, sharedDir)).toMatchObject({ level: 'ok' });
    expect(client.found).toHaveLength(1);
    expect(processes.noise()).toEqual([]);
  });

  it('and its address leads to the new master: all connections are made anew, open calls get their answers', async () => {
    const [old, next] = await Promise.all([startRedis(), startRedis()]);
    await using proxy = await startRedisProxy(old.url);
    const { port: oldPort } = new URL(old.url);
    const { port: nextPort } = new URL(next.url);
    await redisCommand(next.url, 'REPLICAOF', '127.0.0.1', oldPort);
    const answer = Promise.withResolvers<void>();
    await using processes = await startProcesses({ queueUrl: proxy.url, settings, workers: 2 });
    const { api, sharedDir } = processes;
    await using client = await createResponder({ sharedDir, app: 1, does: echoes({ once: answer.promise }) });
    const open = Array.from({ length: 10 }, (_, number) => api.execute(bodyOf(number)));
    await vi.waitUntil(() => client.found.length === 10, WITHIN);
    await eventually(async () =>
      expect(await redisCommand(next.url, 'DBSIZE')).toEqual(await redisCommand(old.url, 'DBSIZE')),
    );

    await redisCommand(next.url, 'REPLICAOF', 'NO', 'ONE');
    await redisCommand(old.url, 'REPLICAOF', '127.0.0.1', nextPort);
    await vi.waitFor(async () => expect(await api.isReady()).toBe(false), WITHIN);
    proxy.pointTo(next.url);
    await vi.waitFor(async () => expect(await api.isReady()).toBe(true), WITHIN);
    answer.resolve();

    const answers = await Promise.all(open);
    expect(answers.map(({ status, json }) => [status, json['the service'].number])).toEqual(
      Array.from({ length: 10 }, (_, number) => [200, number]),
    );
    expect((await api.execute(bodyOf(11))).status).toBe(200);
    expect(twice(client.found)).toEqual([]);
    // Nothing leads to the old one any more but its own replication and this question.
    await vi.waitFor(
      async () => expect(String(await redisCommand(old.url, 'CLIENT', 'LIST'))).not.toMatch(/name=\{rule-server\}/),
      WITHIN,
    );
    expect(processes.noise()).toEqual([]);
  });
});

describe.skipIf(!inject('hasRedisBinary'))('the workers that /readyz counts', () => {
  it('are those that take executions: not one without its directory, not a frozen one, not one that stopped', async () => {
    const redis = await startRedis();
    await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 2 });
    const { api, sharedDir, workers } = processes;
    const counted = async () => (await httpCall(`${api.url}/readyz`)).json.workers;
    await vi.waitFor(async () => expect(await counted()).toBe(2), WITHIN);
    workers[0]?.freeze();
    await vi.waitFor(async () => expect(await counted()).toBe(1), WITHIN);
    workers[0]?.wake();
    await vi.waitFor(async () => expect(await counted()).toBe(2), WITHIN);

    await rename(sharedDir, `${sharedDir}.away`);
    await vi.waitFor(async () => expect(await counted()).toBe(0), WITHIN);
    await rename(`${sharedDir}.away`, sharedDir);
    await vi.waitFor(async () => expect(await counted()).toBe(2), WITHIN);

    await workers[0]?.terminate();
    await vi.waitFor(async () => expect(await counted()).toBe(1), WITHIN);
    await workers[1]?.kill();
    await vi.waitFor(async () => expect(await counted()).toBe(0), WITHIN);
    expect((await api.execute(bodyOf(1))).json).toMatchObject({ code: 'no-worker', mayHaveRun: false });
  });
});

describe.skipIf(!inject('hasRedisBinary'))('Redis that is away', () => {
  it('when all stop: they end all the same', async () => {
    const redis = await startRedis();
    await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 1 });
    await redis.kill();
    for (const each of [...processes.workers, ...processes.apis]) expect((await each.terminate()).code).toBe(0);
    expect(processes.noise()).toEqual([]);
  });

  it('when all start is waited for: calls are refused until it is there, and then answered', async () => {
    const redis = await startRedis();
    await redis.kill();
    await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: 0, workers: 0 });
    await processes.addWorker({ untilReady: false });
    const api = await processes.addApi({ untilReady: false });
    await using _ = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
    expect((await api.execute(bodyOf(1))).json).toMatchObject({ code: 'queue-unavailable', mayHaveRun: false });
    await redis.start();
    await vi.waitFor(async () => expect((await api.execute(bodyOf(2))).status).toBe(200), WITHIN);
    expect(await api.isReady()).toBe(true);
  });
});

describe.skipIf(!inject('hasRedisBinary'))('an API that restarts', () => {
  it('answers the first call that reaches it, although Redis lets its connections wait', async () => {
    const redis = await startRedis();
    await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: 0 });
    await using _ = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
    const PORT = await freePort();
    for (const pausedMs of [0, 2000]) {
      if (pausedMs > 0) await redis.pause?.();
      const starting = startApiProcess({ queueUrl: redis.url, settings: { ...settings, PORT }, untilReady: false });
      const first = firstAnswer(`http://127.0.0.1:${PORT}/rule-server/mock/execute`);
      await delay(pausedMs);
      await redis.resume?.();
      expect((await first).json).toMatchObject({ success: true });
      await (await starting).kill();
    }
  });
});

async function startRedis(): Promise<RedisProcess> {
  const redis = await startRedisProcess();
  onTestFinished(() => redis.stop());
  return redis;
}

/** Calls until something listens. */
async function firstAnswer(url: string) {
  for (;;) {
    const call = httpCall(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(1)),
    });
    const answer = await call.catch(() => undefined);
    if (answer) return answer;
    await delay(5);
  }
}

async function doctorSaysOfRedis(url: string, sharedDir: string): Promise<unknown> {
  const { findings } = await runDoctor({ REDIS_URL: url, SHARED_DIR: sharedDir });
  return findings.find(({ check }) => check === 'redis role') ?? findings;
}

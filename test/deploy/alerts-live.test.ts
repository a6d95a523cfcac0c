import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { answers, createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { startApiProcess } from '../support/start-process.ts';
import { startProcesses } from '../support/start-processes.ts';
import { hasPrometheus, type Prometheus, startPrometheus } from '../support/start-prometheus.ts';
import { clockAhead } from '../support/wrong-clock.ts';

vi.setConfig({ testTimeout: 420_000 });

const settings = { QUEUE_TIMEOUT_MS: 1000, RESULT_TIMEOUT_MS: 30_000, CLIENT_TIMEOUT_MS: 300_000 };
/** The longest of these alerts waits for two minutes, and what it is about must be noticed before. */
const FIRES_WITHIN_MS = 200_000;
const CALL = { app: 1, ruleId: 1 };

describe.skipIf(!inject('hasRedisBinary') || !(await hasPrometheus()))('a Prometheus that scrapes a deployment', () => {
  it('fires for everything that goes wrong for the first time: what waits for two minutes at most', async () => {
    const [redis, other] = [await startRedisProcess(), await startRedisProcess()];
    onTestFinished(async () => {
      await other.resume();
      await Promise.all([redis.stop(), other.stop()]);
    });
    const [first, second] = [await freePort(), await freePort()];
    await using processes = await startProcesses({ queueUrl: redis.url, workers: 0, settings });
    await using elsewhere = await startApiProcess({ queueUrl: other.url, untilReady: false });
    const { sharedDir, api } = processes;
    const dying = await processes.addWorker({ settings: { WORKER_PORT: first } });
    await using client = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
    await using prometheus = await startPrometheus({
      'rule-server-api': [api.url, elsewhere.url].map((url) => new URL(url).host),
      'rule-server-worker': [first, second].map((port) => `127.0.0.1:${port}`),
    });
    const up = async () => (await prometheus.query('sum(up)'))[0]?.value[1];
    await vi.waitFor(async () => expect(await up()).toBe('3'), 60_000);
    await vi.waitFor(async () => expect(await scrapes(prometheus)).toBeGreaterThan(3), 60_000);

    // Nobody can tell whether it ran: its claim is gone, and so is the worker that had it.
    const began = Date.now();
    const unknown = api.execute(CALL);
    await client.firstRequest();
    await processes.addWorker({ settings: { WORKER_PORT: second } });
    // An increase is one only after a scrape of the value before it, and a worker takes over as soon as it has started.
    await vi.waitFor(async () => expect(await up()).toBe('4'), 60_000);
    await vi.waitUntil(() => Date.now() > began + 1500, { timeout: 60_000 });
    const claims = join(sharedDir, '.rule-server/claims');
    for (const minute of await readdir(claims)) await rm(join(claims, minute), { recursive: true });
    await dying.kill();
    expect((await unknown).json.code).toBe('outcome-unknown');

    await rename(sharedDir, `${sharedDir}.away`);
    onTestFinished(() => rm(`${sharedDir}.away`, { recursive: true, force: true }));
    await vi.waitFor(async () => expect((await api.execute(CALL)).json.code).toBe('no-worker'), 60_000);
    await other.pause();

    await untilFiring(prometheus, [
      ...['RuleServerNoWorker', 'RuleServerOutcomeUnknown', 'RuleServerProcessDown'],
      ...['RuleServerQueueStoreDown', 'RuleServerRefusing', 'RuleServerWorkerIdle'],
    ]);
  });

  it('fires for a worker whose clock is wrong, and for an answer that is a fault, and for nothing else', async () => {
    const redis = await startRedisProcess();
    onTestFinished(() => redis.stop());
    const [right, wrong] = [await freePort(), await freePort()];
    await using processes = await startProcesses({ queueUrl: redis.url, workers: 0, settings });
    const { sharedDir, api } = processes;
    await processes.addWorker({ settings: { WORKER_PORT: right } });
    await processes.addWorker({ settings: { WORKER_PORT: wrong, ...clockAhead(1) } });
    await using _ = await createResponder({ sharedDir, app: 1, does: answers() });
    await using prometheus = await startPrometheus({
      'rule-server-api': [new URL(api.url).host],
      'rule-server-worker': [right, wrong].map((port) => `127.0.0.1:${port}`),
    });
    await vi.waitFor(async () => expect(await scrapes(prometheus)).toBeGreaterThan(3), 60_000);
    expect(await firing(prometheus)).toEqual([]);

    expect((await listBatches(api.url)).status).toBe(200);
    await spoilBatches(api.url, redis.url);
    expect((await listBatches(api.url)).status).toBe(500);
    await untilFiring(prometheus, ['RuleServerClockWrong', 'RuleServerFaults']);
    expect((await firing(prometheus)).sort()).toEqual(['RuleServerClockWrong', 'RuleServerFaults']);
    const [late, ...others] = await prometheus.query('ALERTS{alertname="RuleServerClockWrong",alertstate="firing"}');
    expect([late?.metric.instance, others]).toEqual([`127.0.0.1:${wrong}`, []]);
  });
});

/** The alerts that fire now. */
async function firing(prometheus: Prometheus): Promise<string[]> {
  return (await prometheus.rules()).filter(({ state }) => state === 'firing').map(({ name }) => name);
}

async function untilFiring(prometheus: Prometheus, expected: string[]): Promise<void> {
  const missing = async () => {
    const names = await firing(prometheus);
    return expected.filter((name) => !names.includes(name));
  };
  await vi.waitFor(async () => expect(await missing()).toEqual([]), { timeout: FIRES_WITHIN_MS, interval: 1000 });
}

const listBatches = (url: string) => httpCall(`${url}/rule-server/mock/batches`);

/** Puts something else in the place of the list of batches, as a program that uses the same names does. */
async function spoilBatches(url: string, queueUrl: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ ...CALL, cases: [{ name: 'one' }] });
  expect((await httpCall(`${url}/rule-server/mock/batches`, { method: 'POST', headers, body })).status).toBe(202);
  const found = await redisCommand(queueUrl, 'KEYS', '*:batch:index');
  const [key, ...others] = z.array(z.string()).parse(found);
  expect(others).toEqual([]);
  await redisCommand(queueUrl, 'SET', String(key), 'no list');
}

/** How often the API was scraped. */
async function scrapes(prometheus: Prometheus): Promise<number> {
  const [counted] = await prometheus.query('min(count_over_time(rule_server_open_calls[5m]))');
  return Number(counted?.value[1] ?? 0);
}

import { randomUUID } from 'node:crypto';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';

const KEY = 'sixteen-characters-or-more';
const authorization = `Bearer ${KEY}`;
const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });
const WITHIN = { timeout: 20_000, interval: 100 };

describe.skipIf(!inject('hasRedisBinary'))('deployments with a QUEUE_PREFIX each', () => {
  it('see nothing of each other on one Redis', async () => {
    const redis = await startRedisProcess();
    onTestFinished(() => redis.stop());
    await using one = await deployment(redis.url, 'one');
    await using other = await deployment(redis.url, 'other');
    const idempotencyKey = randomUUID();
    const mine = await one.call(1, { 'idempotency-key': idempotencyKey });
    expect(mine).toMatchObject({ status: 200, json: { 'the service': { number: 1 } } });
    const { mockId } = mine.json;
    const batch = await one.get('/batches', batchOf(2));
    expect(batch.status).toBe(202);
    const cookie = await one.signIn();

    // Workers, history, followers, batches, sessions.
    expect((await other.get('/executions')).json.items).toEqual([]);
    expect((await other.get(`/executions/${mockId}`)).status).toBe(404);
    expect((await other.get(`/executions/${mockId}/events`)).status).toBe(404);
    expect((await other.get('/batches')).json.items).toEqual([]);
    expect((await other.get(`/batches/${batch.json.batchId}`)).status).toBe(404);
    expect((await one.withCookie(cookie)).status).toBe(200);
    expect((await other.withCookie(cookie)).status).toBe(401);
    await vi.waitFor(async () => expect(await other.workers()).toBe(1), WITHIN);
    // Metrics, and the same key for another call.
    expect(await other.metric('rule_server_workers')).toBe(1);
    expect(await other.call(3, { 'idempotency-key': idempotencyKey })).toMatchObject({
      status: 200,
      json: { 'the service': { number: 3 } },
    });
    expect(other.client.found).toHaveLength(1);
    // A queue that has nobody to take from it stays so, whoever else works there.
    for (const worker of other.processes.workers) await worker.terminate();
    await vi.waitFor(async () => expect((await other.call(4)).json.code).toBe('no-worker'), WITHIN);
    expect((await one.call(5)).status).toBe(200);

    const keys = (await redisCommand(redis.url, 'KEYS', '*')) as string[];
    expect(keys.filter((key) => !/^\{(one|other)\}:/.test(key))).toEqual([]);
    expect([...one.processes.noise(), ...other.processes.noise()]).toEqual([]);
  });

  it('lie on a master each of a Cluster, and none of their steps crosses slots', async () => {
    await using cluster = await startRedisCluster({ masters: 3, replicas: 0 });
    const deployed: Deployment[] = [];
    onTestFinished(async () => {
      for (const each of deployed) await each[Symbol.asyncDispose]();
    });
    for (const master of cluster.nodes) {
      let number = 0;
      while ((await cluster.ownerOf(`{orders-${number}}`)) !== master) number++;
      const each = await deployment(cluster.url, `orders-${number}`);
      deployed.push(each);
      expect(await each.call(1, { 'idempotency-key': randomUUID() })).toMatchObject({ status: 200 });
      const started = await each.get('/batches', batchOf(1, 2, 3));
      await vi.waitFor(async () => {
        expect((await each.get(`/batches/${started.json.batchId}`)).json.state).toBe('finished');
      }, WITHIN);
      const { items: executions } = (await each.get('/executions')).json;
      expect(executions).toHaveLength(1);
      expect((await each.get(`/executions/${executions[0].mockId}`)).status).toBe(200);
      const keys = (await cluster.command(master, 'KEYS', '*')) as string[];
      expect(keys.length).toBeGreaterThan(10);
      expect(keys.filter((key) => !key.startsWith(`{orders-${number}}:`))).toEqual([]);
    }
    for (const { processes, call } of deployed) {
      expect((await call(2)).status).toBe(200);
      expect(processes.warnings().filter(({ level }) => level >= 50)).toEqual([]);
      expect(processes.noise()).toEqual([]);
    }
  });
});

function batchOf(...numbers: number[]) {
  const cases = numbers.map((number) => ({ 'the service': { number } }));
  return { app: 1, ruleId: 1, cases };
}

type Deployment = Awaited<ReturnType<typeof deployment>>;

async function deployment(queueUrl: string, QUEUE_PREFIX: string) {
  const settings = { QUEUE_PREFIX, API_KEYS: `me:${KEY}`, POLL_INTERVAL_MS: 250 };
  const processes: Processes = await startProcesses({ queueUrl, settings });
  const client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
  const { url } = processes.api;
  return {
    processes,
    client,
    call: (number: number, headers = {}) =>
      processes.api.execute(bodyOf(number), { headers: { authorization, ...headers } }),
    get: (path: string, body?: unknown) =>
      httpCall(`${url}/rule-server/mock${path}`, {
        headers: { authorization, 'content-type': 'application/json' },
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      }),
    async signIn(): Promise<string> {
      const answer = await fetch(`${url}/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key: KEY }),
      });
      return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    },
    withCookie: (cookie: string) => httpCall(`${url}/rule-server/mock/executions`, { headers: { cookie } }),
    workers: async () => (await httpCall(`${url}/readyz`, { headers: { authorization } })).json.workers,
    async metric(name: string): Promise<number> {
      const { text } = await httpCall(`${url}/metrics`, { headers: { authorization } });
      const lines = text.split('\n').filter((line) => line.startsWith(name));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await processes[Symbol.asyncDispose]();
    },
  };
}

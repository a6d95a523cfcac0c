import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';

const BATCHES = '/rule-server/mock/batches';
const CALLS = 5;
const CASES = 20;

/** Resolves to what lets Redis forget all that it is told from now on. */
type Remember = (redis: RedisProcess) => Promise<() => Promise<void>>;

const restored: Remember = async (redis) => {
  const reply = await redisCommand(redis.url, 'CONFIG', 'GET', 'dir');
  const directory = join(String(Array.isArray(reply) ? reply[1] : ''), 'appendonlydir');
  await cp(directory, `${directory}-before`, { recursive: true });
  return async () => {
    await redis.kill();
    await rm(directory, { recursive: true });
    await cp(`${directory}-before`, directory, { recursive: true });
    await redis.start();
  };
};
const flushed: Remember = async (redis) => async () => void (await redisCommand(redis.url, 'FLUSHALL'));
const losses: [string, Remember][] = [
  ['is killed, and its append-only file is restored as it was before', restored],
  ['forgets everything (FLUSHALL)', flushed],
];

it.skipIf(!inject('hasRedisBinary')).each(losses)(
  'Redis %s, and the API dies: keyed calls and batches are asked for again, and nothing runs twice',
  async (_, remember) => {
    const redis = await startRedisProcess({ appendOnly: true });
    try {
      await using processes = await startProcesses({ queueUrl: redis.url });
      const inputs: string[] = [];
      await using _client = await clientThat(processes.sharedDir, inputs);
      const forget = await remember(redis);
      const { api } = processes;
      const first = await Promise.all(calls(api.url));
      const batch = await createBatch(api.url);
      await isFinished(api.url, batch);
      await api.kill();
      await forget();
      const other = await processes.addApi();
      const again = await eventually(async () => {
        const answers = await Promise.all(calls(other.url));
        for (const { json } of answers) expect([undefined, 'outcome-unknown']).toContain(json.code); // the store is back
        return answers;
      });
      // Answers are kept for 30 s, which may be over on a busy machine.
      for (const [n, { json }] of again.entries())
        if (json.code === undefined) expect(json).toEqual(first[n]?.json);
        else expect(json).toMatchObject({ mockId: first[n]?.json.mockId, mayHaveRun: true });
      const repeated = await createBatch(other.url);
      expect(repeated).toBe(batch);
      await isFinished(other.url, repeated);
      expect([inputs.length, new Set(inputs).size]).toEqual([CALLS + CASES, CALLS + CASES]);
      expect(await callUnder(other.url, 'key-0', CALLS)).toMatchObject({ status: 422 });
    } finally {
      await redis.stop();
    }
  },
);

it.skipIf(!inject('hasRedisBinary'))(
  'Redis forgets a batch while it runs: asked for again, it runs what had not run, skips nothing, and runs nothing twice',
  async () => {
    const redis = await startRedisProcess({ appendOnly: true });
    try {
      await using processes = await startProcesses({ queueUrl: redis.url });
      const inputs: string[] = [];
      await using _client = await clientThat(processes.sharedDir, inputs);
      const forget = await restored(redis);
      const { api } = processes;
      const batch = await createBatch(api.url);
      await eventually(() => expect(inputs.length).toBeGreaterThan(3));
      await forget();
      expect(await eventually(() => createBatch(api.url))).toBe(batch);
      await isFinished(api.url, batch);
      const { json } = await httpCall(`${api.url}${BATCHES}/${batch}`);
      expect(json.counts).toMatchObject({ skipped: 0, failed: 0, error: 0 });
      expect(new Set(inputs).size).toBe(inputs.length);
    } finally {
      await redis.stop();
    }
  },
);

function clientThat(sharedDir: string, inputs: string[]) {
  return createResponder({
    sharedDir,
    app: 1,
    does(request, responder) {
      inputs.push(JSON.stringify(JSON.parse(request.text)['the service']));
      return echoes({ afterMs: 20 })(request, responder);
    },
  });
}

const calls = (url: string) => Array.from({ length: CALLS }, (_, n) => callUnder(url, `key-${n}`, n));

function callUnder(url: string, key: string, n: number): Promise<Answer> {
  return post(`${url}/rule-server/mock/execute`, key, { app: 1, ruleId: 1, 'the service': { call: n } });
}

async function createBatch(url: string): Promise<string> {
  const cases = Array.from({ length: CASES }, (_, n) => ({ 'the service': { item: n } }));
  const { status, json } = await post(url + BATCHES, 'batch', { app: 1, ruleId: 1, cases });
  expect(status).toBe(202);
  return String(json.batchId);
}

function post(url: string, key: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  return httpCall(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function isFinished(url: string, batchId: string): Promise<void> {
  await eventually(async () => {
    expect((await httpCall(`${url}${BATCHES}/${batchId}`)).json).toMatchObject({ state: 'finished' });
  });
}

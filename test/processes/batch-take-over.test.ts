import { describe, expect, inject, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { type RedisProcess, type RedisProcessOptions, startRedisProcess } from '../support/redis-process.ts';
import { answersAfter, createResponder, type Responder } from '../support/responder.ts';
import type { ServiceProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

vi.setConfig({ testTimeout: 300_000 });

/** The goal is 5 s after the kill; the rest is for a machine that is busy. */
const GOES_ON_WITHIN_MS = 8000;
/** Longer than any of the waits that hold a batch up after a kill: so that a failed test says by how much. */
const LOOKED_FOR_MS = 150_000;
const CASES = 60;
const CONCURRENCY = 2;
/** So many requests the slower client has found when the worker is killed: at the begin of a batch, in its middle, near its end. */
const KILLED_AFTER = [3, 20, 40];
const settings = { CLIENT_TIMEOUT_MS: 60_000 };

// One after the other: what is measured is how long they wait.
describe.skipIf(!inject('hasRedisBinary'))('when the worker of a batch is killed', () => {
  it('each of its targets goes on within seconds, its place is free for the next batch, and no case runs twice', () =>
    withProcesses(async (processes) => {
      const { sharedDir } = processes;
      const does = answersAfter(200);
      await using trunk = await createResponder({ sharedDir, app: 1, does, lookEveryMs: 20, beatEveryMs: 2000 });
      await using beta = await createResponder({
        ...{ sharedDir, app: 1, does, lookEveryMs: 20, beatEveryMs: 2000 },
        lane: 'beta',
      });
      const clients = [trunk, beta];
      await processes.addApi({ settings: { MAX_BATCHES: 1 } });
      const workers = [await addWorker(processes), await addWorker(processes)];
      const stoodStillMs: number[] = [];
      for (const after of KILLED_AFTER) {
        const before = clients.map(({ found }) => found.length);
        const targets = [`address:${trunk.address}`, 'lane:beta'];
        const batchId = await begin(processes, { cases: inputs(CASES), targets, concurrency: CONCURRENCY });
        await vi.waitUntil(() => clients.every(({ found }, at) => found.length >= (before[at] ?? 0) + after), {
          timeout: 60_000,
        });
        const runner = await runnerOf(workers);
        await runner.process.kill();
        stoodStillMs.push(...(await Promise.all(clients.map(untilItGetsNewOnes))));
        workers.splice(workers.indexOf(runner), 1, await addWorker(processes));
        expect((await ended(processes, batchId)).targets).toMatchObject(
          targets.map(() => ({ counts: { passed: CASES, pending: 0 } })),
        );
      }
      expect(clients.flatMap(({ found }) => twice(found))).toEqual([]);
      expect(stoodStillMs.filter((ms) => ms > GOES_ON_WITHIN_MS)).toEqual([]);
    }));

  it('another batch at the same client, which another worker runs, does not wait for what the dead one held there', () =>
    withProcesses(async (processes) => {
      const { sharedDir } = processes;
      await using client = await createResponder({
        ...{ sharedDir, app: 1, does: answersAfter(400), beatEveryMs: 2000 },
      });
      await processes.addApi();
      const one = { settings: { MAX_BATCHES: 1 } }; // so that each worker runs one of the two
      const first = await addWorker(processes, one);
      const of = (name: string) => ({ cases: inputs(20, name), targets: ['all'], concurrency: 1 });
      const found = (name: string) => client.found.filter(({ text }) => text.includes(`"${name}"`)).length;
      const dying = await begin(processes, of('dying'));
      await vi.waitUntil(() => found('dying') > 0, { timeout: 30_000 });
      await addWorker(processes, one);
      const living = await begin(processes, of('living'));
      await vi.waitUntil(() => found('living') > 1, { timeout: 30_000 });
      const next = found('dying');
      await vi.waitUntil(() => found('dying') > next, { timeout: 30_000, interval: 5 });
      await first.process.kill(); // while the client has an item of its batch
      const atKill = found('living');
      const killedAt = Date.now();
      await vi.waitUntil(() => found('living') > atKill + 1, { timeout: LOOKED_FOR_MS });
      const stoodStillMs = Date.now() - killedAt;
      for (const batchId of [living, dying])
        expect((await ended(processes, batchId)).counts).toMatchObject({ passed: 20, pending: 0 });
      expect(twice(client.found)).toEqual([]);
      expect(stoodStillMs).toBeLessThan(GOES_ON_WITHIN_MS);
    }));
});

describe.skipIf(!inject('hasRedisBinary'))('when Redis is started again and has lost nothing', () => {
  it('a batch goes on within seconds, and no case runs twice or not at all', () =>
    withProcesses(
      async (processes, redis) => {
        const client = { app: 1, does: answersAfter(200), lookEveryMs: 20, beatEveryMs: 2000 };
        await using trunk = await createResponder({ sharedDir: processes.sharedDir, ...client });
        await processes.addApi();
        await addWorker(processes);
        await addWorker(processes);
        const stoodStillMs: number[] = [];
        for (const after of KILLED_AFTER) {
          const before = trunk.found.length;
          const batchId = await begin(processes, { cases: inputs(CASES), targets: ['all'], concurrency: CONCURRENCY });
          await vi.waitUntil(() => trunk.found.length >= before + after, { timeout: 60_000 });
          await redis.restart();
          stoodStillMs.push(await untilItGetsNewOnes(trunk));
          expect((await ended(processes, batchId)).counts).toMatchObject({ passed: CASES, pending: 0 });
        }
        expect(twice(trunk.found)).toEqual([]);
        const numbers = trunk.found.map(({ text }): number => JSON.parse(text)['the service'].n);
        expect(numbers).toHaveLength(KILLED_AFTER.length * CASES);
        expect(stoodStillMs.filter((ms) => ms > GOES_ON_WITHIN_MS)).toEqual([]);
      },
      { appendOnly: true },
    ));
});

async function withProcesses(
  use: (processes: Processes, redis: RedisProcess) => Promise<void>,
  options: RedisProcessOptions = {},
): Promise<void> {
  const redis = await startRedisProcess(options);
  try {
    await using processes = await startProcesses({ queueUrl: redis.url, apis: 0, workers: 0, settings });
    await use(processes, redis);
  } finally {
    await redis.stop();
  }
}

type Worker = { process: ServiceProcess; port: number };

async function addWorker(
  processes: Processes,
  { settings: more = {} }: { settings?: Record<string, number> } = {},
): Promise<Worker> {
  const port = await freePort();
  return { process: await processes.addWorker({ settings: { WORKER_PORT: port, ...more } }), port };
}

/** The worker that runs the only batch there is. */
function runnerOf(workers: Worker[]): Promise<Worker> {
  return vi.waitFor(
    async () => {
      for (const worker of workers) {
        const { text } = await httpCall(`http://127.0.0.1:${worker.port}/metrics`);
        if (/^rule_server_batches_running 1$/m.test(text)) return worker;
      }
      throw new Error('no worker runs the batch');
    },
    { timeout: 10_000, interval: 20 },
  );
}

/** How long it takes until a client gets a request that cannot have been on its way before. */
async function untilItGetsNewOnes({ found }: Responder): Promise<number> {
  const since = Date.now();
  const onTheirWay = found.length + CONCURRENCY;
  await vi.waitUntil(() => found.length > onTheirWay, { timeout: LOOKED_FOR_MS });
  return Date.now() - since;
}

const inputs = (count: number, name = 'case') =>
  Array.from({ length: count }, (_, n) => ({ 'the service': { n, name } }));

async function begin({ api }: Processes, body: Record<string, unknown>): Promise<string> {
  const answer = await httpCall(`${api.url}/rule-server/mock/batches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app: 1, ruleId: 1, ...body }),
  });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.json.batchId;
}

function ended({ api }: Processes, batchId: string) {
  return vi.waitFor(
    async () => {
      const { status, json } = await httpCall(`${api.url}/rule-server/mock/batches/${batchId}`);
      expect([status, json.state]).toEqual([200, 'finished']);
      return json;
    },
    { timeout: LOOKED_FOR_MS, interval: 100 },
  );
}

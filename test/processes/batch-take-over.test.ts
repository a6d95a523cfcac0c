import { expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { answersAfter, createResponder, type Responder } from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import type { ServiceProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

/** Whatever holds a batch up after a kill by itself ends two minutes later: by then the test has failed. */
const GOES_ON_WITHIN_MS = 60_000;
const CASES = 30;
const CONCURRENCY = 2;
/** So many requests the slower client has found when the worker is killed: at the begin of a batch, and near its end. */
const KILLED_AFTER = [3, 20];

it.skipIf(inject('sharedRedis') === null)(
  'the worker of a batch is killed: each of its targets goes on, its place is free for the next batch, and no case runs twice',
  async () => {
    const database = await borrowDatabase();
    try {
      const options = { queueUrl: database?.url ?? '', apis: 0, workers: 0, settings: { CLIENT_TIMEOUT_MS: 60_000 } };
      await using processes = await startProcesses(options);
      const client = { sharedDir: processes.sharedDir, app: 1, does: answersAfter(200), lookEveryMs: 20 };
      await using trunk = await createResponder({ ...client, beatEveryMs: 2000 });
      await using beta = await createResponder({ ...client, beatEveryMs: 2000, lane: 'beta' });
      const clients = [trunk, beta];
      await processes.addApi({ settings: { MAX_BATCHES: 1 } });
      const workers = [await addWorker(processes), await addWorker(processes)];
      for (const after of KILLED_AFTER) {
        const before = clients.map(({ found }) => found.length);
        const targets = [`address:${trunk.address}`, 'lane:beta'];
        const batchId = await begin(processes, { cases: cases(CASES), targets, concurrency: CONCURRENCY });
        await eventually(() => {
          for (const [at, { found }] of clients.entries())
            expect(found.length).toBeGreaterThanOrEqual((before[at] ?? 0) + after);
        }, GOES_ON_WITHIN_MS);
        const runner = await runnerOf(workers);
        await runner.process.kill();
        await Promise.all(clients.map(getsNewOnes));
        workers.splice(workers.indexOf(runner), 1, await addWorker(processes));
        expect((await ended(processes, batchId)).targets).toMatchObject(
          targets.map(() => ({ counts: { passed: CASES, pending: 0 } })),
        );
      }
      expect(clients.flatMap(({ found }) => twice(found))).toEqual([]);
    } finally {
      await database?.stop();
    }
  },
);

type Worker = { process: ServiceProcess; port: number };

async function addWorker(processes: Processes): Promise<Worker> {
  const port = await freePort();
  return { process: await processes.addWorker({ settings: { WORKER_PORT: port } }), port };
}

/** The worker that runs the only batch there is. */
function runnerOf(workers: Worker[]): Promise<Worker> {
  return eventually(async () => {
    for (const worker of workers) {
      const { text } = await httpCall(`http://127.0.0.1:${worker.port}/metrics`);
      if (/^rule_server_batches_running 1$/m.test(text)) return worker;
    }
    throw new Error('no worker runs the batch');
  });
}

/** Resolves once a client gets a request that cannot have been on its way before. */
function getsNewOnes({ found }: Responder): Promise<void> {
  const onTheirWay = found.length + CONCURRENCY;
  return eventually(() => expect(found.length).toBeGreaterThan(onTheirWay), GOES_ON_WITHIN_MS);
}

/** Each target is judged for itself: where nothing is expected, the others wait for the first to be compared with it. */
const cases = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ 'the service': { n }, expect: { outcome: 'TRUE' } }));

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
  return eventually(async () => {
    const { status, json } = await httpCall(`${api.url}/rule-server/mock/batches/${batchId}`);
    expect([status, json.state]).toEqual([200, 'finished']);
    return json;
  }, 120_000);
}

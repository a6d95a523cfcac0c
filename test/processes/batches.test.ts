import { copyFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, vi } from 'vitest';
import { type Step, steps } from '../../src/worker/execution/steps.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { answersAfter, createResponder } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

vi.setConfig({ testTimeout: 240_000 });

const CASES = 130;
/** Items are marked a hundred at a time. */
const MARKED = 100;
const settings = {
  RESULT_TIMEOUT_MS: 20_000,
  CLIENT_TIMEOUT_MS: 60_000,
  POLL_INTERVAL_MS: 250,
  QUEUE_TIMEOUT_MS: 5000, // the next worker waits twice as long until it sends again what may have been sent
};
/** Longer than any claim is kept. */
const LATER_MS = 30 * 60_000;

/** Each step with each state of Redis takes two cores for two minutes (`KILLS=full`): by default a step has one of the three. */
const isFull = process.env.KILLS === 'full';
const everyThird = (turn: number): readonly Step[] => steps.filter((_, at) => isFull || at % 3 === turn);

// They wait far more than they work, so all of them wait at once.
describe.skipIf(!inject('hasRedisBinary'))('a worker of a batch is killed', { concurrent: true }, () => {
  it.each(everyThird(0))('at "%s": another one goes on, and no case runs twice', (step) =>
    during(step, async ({ processes, batchId, found }) => {
      await processes.addWorker();
      const { state, counts } = await ended(processes, batchId);
      expect([state, counts.pending, counts.passed + counts.unanswered]).toEqual(['finished', 0, CASES]);
      // A machine that is slow to start the next worker may leave some behind: each says so, and whether it may have run.
      const { items } = (await get(processes, `${batchId}/items?verdict=unanswered`)).json;
      for (const item of items) {
        const { code, mayHaveRun } = item;
        expect(['overloaded false', 'outcome-unknown true'], JSON.stringify(item)).toContain(`${code} ${mayHaveRun}`);
      }
      expect(twice(found())).toEqual([]);
    }),
  );

  it.each(everyThird(1))(
    'at "%s", and Redis comes back as it was before anything was sent, when no claim is kept any more',
    (step) =>
      during(step, async ({ processes, batchId, found, redis, snapshot }) => {
        await redis.kill();
        await snapshot.restore();
        await letTimePass(processes.sharedDir, batchId);
        await redis.start();
        await processes.addWorker();
        const { state, counts } = await ended(processes, batchId);
        // What was below the mark may have run: it is told so, and not sent again. What came after it was not sent before.
        expect([state, counts.unanswered, counts.passed]).toEqual(['finished', MARKED, CASES - MARKED]);
        const { items } = (await get(processes, `${batchId}/items?verdict=unanswered&limit=1`)).json;
        expect(items[0]).toMatchObject({ code: 'outcome-unknown', mayHaveRun: true });
        expect(twice(found())).toEqual([]);
      }),
  );

  it.each(everyThird(2))(
    'at "%s", and Redis loses everything: the batch is gone, and none of its cases runs again',
    (step) =>
      during(step, async ({ processes, batchId, found, redis }) => {
        await redisCommand(redis.url, 'FLUSHALL');
        await letTimePass(processes.sharedDir, batchId);
        const before = found().length;
        await processes.addWorker();
        const next = await begin(processes, 3);
        expect((await ended(processes, next)).counts.passed).toBe(3);
        expect((await get(processes, batchId)).status).toBe(404);
        expect(found().length).toBe(before + 3);
        expect(twice(found())).toEqual([]);
      }),
  );
});

type During = {
  processes: Processes;
  redis: RedisProcess;
  batchId: string;
  /** Requests the client found so far. */
  found: () => { mockId: string }[];
  /** Redis as it was when the batch was taken and nothing of it had been sent. */
  snapshot: { restore(): Promise<void> };
};

/** A batch whose only worker is killed at a step of one of its first items. */
async function during(step: Step, then: (during: During) => Promise<void>): Promise<void> {
  const redis = await startRedisProcess();
  try {
    await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 0 });
    const { sharedDir } = processes;
    await using client = await createResponder({
      sharedDir,
      app: 1,
      does: answersAfter(40),
      lookEveryMs: 30,
      beatEveryMs: 2000,
    });
    const batchId = await begin(processes, CASES);
    const snapshot = await takeSnapshot(redis.url);
    const worker = await processes.addWorker({ fault: { step, signal: 'SIGKILL' }, untilReady: false });
    await worker.logged('the fault happens', 60_000);
    await vi.waitUntil(() => !isAlive(worker.pid), { timeout: 30_000 });
    await then({ processes, redis, batchId, found: () => client.found, snapshot });
  } finally {
    await redis.stop();
  }
}

async function begin(processes: Processes, count: number): Promise<string> {
  const cases = Array.from({ length: count }, (_, n) => ({ 'the service': { n } }));
  const answer = await httpCall(`${processes.api.url}/rule-server/mock/batches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app: 1, ruleId: 1, cases, concurrency: 8 }),
  });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.json.batchId;
}

const get = ({ api }: Processes, path: string) => httpCall(`${api.url}/rule-server/mock/batches/${path}`);

async function ended(processes: Processes, batchId: string) {
  return vi.waitFor(
    async () => {
      const { status, json } = await get(processes, batchId);
      expect([status, json.state]).toEqual([200, 'finished']);
      return json;
    },
    { timeout: 120_000, interval: 200 },
  );
}

/** Redis as it is now, to be put back once it has been killed. */
async function takeSnapshot(url: string) {
  const connection = new Redis(url);
  await connection.save();
  const [, directory = ''] = (await connection.config('GET', 'dir')) as string[];
  connection.disconnect();
  const [dump, kept] = [join(directory, 'dump.rdb'), join(directory, 'kept.rdb')];
  await copyFile(dump, kept);
  return { restore: () => copyFile(kept, dump) };
}

/** As if so much time had passed that claims are swept: marks tell when they were raised in their names. */
async function letTimePass(sharedDir: string, batchId: string): Promise<void> {
  const folder = join(sharedDir, '.rule-server', 'batches', batchId);
  for (const name of await readdir(folder)) {
    const [target, upTo, at] = name.split('.');
    await rename(join(folder, name), join(folder, `${target}.${upTo}.${Number(at) - LATER_MS}`));
  }
  const claims = join(sharedDir, '.rule-server', 'claims');
  for (const minute of await readdir(claims)) await rm(join(claims, minute), { recursive: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

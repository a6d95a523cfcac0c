import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it, vi } from 'vitest';
import { openQueueBackend } from '../../src/shared/store/queue/open-queue-backend.ts';
import type { ExecutionQueue } from '../../src/shared/store/queue/queue-backend.ts';
import { queueNames } from '../../src/shared/store/queue/queue-names.ts';
import { withDeadline } from '../support/deadline.ts';
import { echoes } from '../support/echoes.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import type { ApiProcess, ServiceProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';
import { sweepLater } from '../support/sweep-later.ts';

vi.setConfig({ testTimeout: 180_000 });

const OPEN = 10;
const RECOVERED_WITHIN_MS = 10_000;
/** Locks lapse, a worker takes over, the API looks again: no answer is left to its deadline, which comes after 60 s. */
const ANSWERED_WITHIN_MS = 20_000;
const REFUSED_WITHIN_MS = 1000;
/** From then on a Redis that says nothing counts as away. */
const SILENT_WITHIN_MS = 2000;
/** What a machine adds to each of them: in a whole run other files share its cores. */
const BUSY_MS = process.env.CI ? 3000 : 1000;
const settings = { CLIENT_TIMEOUT_MS: 60_000, POLL_INTERVAL_MS: 250 };
/** While nobody takes it up again, a busy machine may need long to start another API. */
const ADDED_AGAIN = { QUEUE_TIMEOUT_MS: 60_000 };

type Outage = {
  appendOnly?: boolean;
  workers?: number;
  begins(redis: RedisProcess, api: ApiProcess): Promise<unknown>;
  ends?(redis: RedisProcess): Promise<unknown>;
  /** Whether new calls cannot be taken while it lasts. */
  refuses?: boolean;
};

describe.skipIf(!inject('hasRedisBinary')).concurrent('while executions are open, Redis', () => {
  it('is killed and comes back with its data', () =>
    survives({
      appendOnly: true,
      refuses: true,
      begins: (redis) => redis.kill(),
      ends: (redis) => redis.start(),
    }));

  it('is killed and comes back empty', () =>
    survives({
      refuses: true,
      begins: (redis) => redis.kill(),
      ends: (redis) => redis.start(),
    }));

  it('loses all its data at once', () => survives({ begins: (redis) => redisCommand(redis.url, 'FLUSHALL') }));

  it('loses all its data, and the only worker gets what it has a second time', () =>
    survives({ workers: 1, begins: (redis) => redisCommand(redis.url, 'FLUSHALL'), ends: () => delay(4000) }));

  it('loses all its data when it has been told an answer that the API has not heard of', async () => {
    const redis = await startRedisProcess();
    const answered = Promise.withResolvers<void>();
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 2 });
      const { sharedDir, api, workers } = processes;
      const does = echoes({ once: answered.promise });
      await using responder = await createResponder({ sharedDir, app: 1, does });
      const open = Array.from({ length: OPEN }, (_, number) => api.execute(bodyOf(number)));
      await vi.waitUntil(() => responder.found.length === OPEN, { timeout: 20_000 });

      api.freeze();
      answered.resolve();
      const answers = () => workers.flatMap(({ log }) => log.filter(({ msg }) => msg === 'answered'));
      await vi.waitUntil(() => answers().length === OPEN, { timeout: 30_000 });
      await redisCommand(redis.url, 'FLUSHALL');
      api.wake();

      const called = await withDeadline(Promise.all(open), ANSWERED_WITHIN_MS, 'answers that were there');
      expect(called.map(({ status, json }) => [status, json['the service'].number])).toEqual(
        Array.from({ length: OPEN }, (_, number) => [200, number]),
      );
      expect(twice(responder.found)).toEqual([]);
    } finally {
      await redis.stop();
    }
  });

  it('loses all its data, and one that its client has is cancelled at an API that did not see it', async () => {
    const redis = await startRedisProcess();
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: 2 });
      const { api, sharedDir } = processes;
      const [other, worker] = [processes.apis[1], processes.workers[0]];
      await using responder = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
      const call = api.execute(bodyOf(1));
      const { mockId, requestPath } = await responder.firstRequest();
      await vi.waitUntil(() => !existsSync(requestPath), { timeout: 20_000 });

      worker?.freeze();
      await redisCommand(redis.url, 'FLUSHALL');
      const url = `${other?.url}/rule-server/mock/executions/${mockId}`;
      await vi.waitFor(async () => expect((await httpCall(url)).status).toBe(200), 30_000); // added again
      expect((await httpCall(url, { method: 'DELETE' })).status).toBe(202);
      worker?.wake();

      const { json } = await withDeadline(call, ANSWERED_WITHIN_MS, 'the end of an execution that was cancelled');
      expect(json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
      expect((await httpCall(url)).json.outcome).toMatchObject({ code: 'cancelled', mayHaveRun: true });
      expect(responder.found).toHaveLength(1);
    } finally {
      await redis.stop();
    }
  });

  it('loses its last second, and one that its client has is cancelled at an API that began after that', async () => {
    const redis = await startRedisProcess();
    const backend = await openQueueBackend(redis.url);
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings: { ...settings, ...ADDED_AGAIN } });
      const { api, sharedDir, workers } = processes;
      await using responder = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
      const call = api.execute(bodyOf(1));
      const { mockId, requestPath } = await responder.firstRequest();
      await vi.waitUntil(() => !existsSync(requestPath), { timeout: 20_000 });

      // What the file of a Redis tells that was killed before it wrote down that a worker took the job. Every connection ends, as it
      // does then: an API that lost its connection does not say that the call did not run.
      workers[0]?.freeze();
      await backend.connected;
      const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
      const { data, timestamp } = (await queue.getJob(mockId)) ?? {};
      if (!data || !timestamp) throw new Error('the job of the execution is not there');
      api.freeze(); // or it adds the job again before the job is there
      await redis.kill();
      await redis.start({ loseData: true });
      const options = { jobId: mockId, timestamp, head: JSON.stringify({ ...data, input: undefined }) };
      await vi.waitFor(() => queue.add('execute', data, options), { timeout: 20_000, interval: 20 });
      await queue.close();
      api.wake();

      const { url } = await processes.addApi();
      const cancelled = await httpCall(`${url}/rule-server/mock/executions/${mockId}`, { method: 'DELETE' });
      expect(cancelled.status).toBe(202);
      workers[0]?.wake();
      const { json } = await withDeadline(call, ANSWERED_WITHIN_MS, 'the end of an execution that was cancelled');
      expect(json).toMatchObject({ mayHaveRun: true });
      expect(responder.found).toHaveLength(1);
    } finally {
      await backend.close();
      await redis.stop();
    }
  });

  it('is frozen for 5 s', () =>
    survives({
      refuses: true,
      async begins(redis, api) {
        await redis.pause();
        // A call that comes before the silence is noticed waits for its end.
        await vi.waitUntil(async () => !(await api.isReady()), { timeout: SILENT_WITHIN_MS + BUSY_MS });
      },
      ends: async (redis) => {
        await delay(5000); // longer than the locks of the workers
        await redis.resume();
      },
    }));

  it('cuts every connection', () =>
    survives({ begins: (redis) => redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes') }));

  it('runs out of memory for longer than the locks of the workers last', () =>
    survives({
      refuses: true,
      begins: (redis) => redis.setMaxMemory(1),
      ends: async (redis) => {
        await delay(7000);
        await redis.setMaxMemory(0);
      },
    }));

  it('is away when they stop: they end all the same', async () => {
    const redis = await startRedisProcess();
    await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 1 });
    await redis.stop();
    for (const each of [...processes.workers, ...processes.apis]) {
      const { code, ms } = await each.terminate();
      expect(code).toBe(0);
      expect(ms).toBeLessThan(3000 + BUSY_MS);
    }
    expect(processes.noise()).toEqual([]);
  });
});

describe.skipIf(!inject('hasRedisBinary')).concurrent('Redis that starts after everybody else', () => {
  it('is waited for: calls get 503 until it is there, and then their answers', async () => {
    const redis = await startRedisProcess();
    try {
      await redis.kill();
      await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: 0, workers: 0 });
      await processes.addWorker({ untilReady: false });
      const api = await processes.addApi({ untilReady: false });
      await using _ = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
      await isRefusedAtOnce(() => api.execute(bodyOf(1)));
      await redis.start();
      await isRecovered(() => api.execute(bodyOf(2)));
      expect(await api.isReady()).toBe(true);
      warnedOnce(processes);
    } finally {
      await redis.stop();
    }
  });
});

async function survives({ appendOnly = false, workers = 2, begins, ends, refuses = false }: Outage): Promise<void> {
  const redis = await startRedisProcess({ appendOnly });
  const [before, after] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  try {
    await using processes = await startProcesses({ queueUrl: redis.url, settings, workers });
    const { sharedDir, api } = processes;
    // Half of the answers come while it lasts, half when it is over.
    let count = 0;
    const first = echoes({ once: before.promise });
    const second = echoes({ once: after.promise });
    await using responder = await createResponder({
      sharedDir,
      app: 1,
      does: (request, client) => (count++ < OPEN / 2 ? first : count <= OPEN ? second : echoes())(request, client),
    });
    // So that the client can stop, whatever failed.
    using _answered = {
      [Symbol.dispose]() {
        before.resolve();
        after.resolve();
      },
    };
    const open = Array.from({ length: OPEN }, (_, number) => api.execute(bodyOf(number)));
    await vi.waitUntil(() => responder.found.length === OPEN, { timeout: 20_000 });
    if (appendOnly) await delay(1100); // the file is written every second

    await begins(redis, api);
    before.resolve();
    if (refuses) await isRefusedAtOnce(() => api.execute(bodyOf(100)));
    await ends?.(redis);
    after.resolve();

    const answers = await withDeadline(Promise.all(open), ANSWERED_WITHIN_MS, 'answers that were there');
    expect(answers.map(({ status, json }) => [status, json['the service'].number])).toEqual(
      Array.from({ length: OPEN }, (_, number) => [200, number]),
    );
    await isRecovered(() => api.execute(bodyOf(101)));
    expect(twice(responder.found)).toEqual([]);
    warnedOnce(processes);
    expect(processes.noise()).toEqual([]);
    await sweepLater(sharedDir);
    expect(await processes.leftovers()).toEqual([]);
  } finally {
    await redis.stop();
  }
}

const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

/** Also right after a connection was lost, when nobody can know yet; then three more, when everybody does. */
async function isRefusedAtOnce(call: () => Promise<Answer>): Promise<void> {
  for (let time = 0; time < 4; time++) {
    const startedAt = performance.now();
    const { status, json } = await call();
    expect({ status, code: json.code }).toEqual({
      status: 503,
      code: expect.stringMatching(/^(queue-unavailable|outcome-unknown)$/),
    });
    expect(performance.now() - startedAt).toBeLessThan(REFUSED_WITHIN_MS + BUSY_MS);
  }
}

async function isRecovered(call: () => Promise<Answer>): Promise<void> {
  await vi.waitFor(async () => expect((await call()).status).toBe(200), {
    timeout: RECOVERED_WITHIN_MS,
    interval: 100,
  });
}

/** However many calls and executions it hit. */
function warnedOnce({ apis, workers }: Processes): void {
  for (const { log } of [...apis, ...workers] satisfies ServiceProcess[]) {
    const warnings = log.filter(({ level }) => level >= 40).map(({ msg }) => msg);
    expect(warnings).toEqual([...new Set(warnings)]);
    const others = warnings.filter((msg) => !msg.startsWith('Executions cannot be kept in the history')); // an API adds them later
    expect(others.slice(2)).toEqual([]); // away, and its data lost
  }
}

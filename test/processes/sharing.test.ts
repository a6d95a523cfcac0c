import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { callSteadily, strangers, twice } from '../support/steady-calls.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');
const settings = { CLIENT_TIMEOUT_MS: 60_000 };
/** What a machine with nothing to spare adds to a second. */
const BUSY_MS = process.env.CI ? 3000 : 1000;

describe.skipIf(choice.kind === 'unavailable')('processes that share one queue and one directory', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('answer 2,000 calls at two APIs through three workers: each its own, each dispatched once', async () => {
    await withProcesses({ apis: 2, workers: 3, does: echoes() }, async ({ processes, responder }) => {
      const calls = callSteadily({ perSecond: 400 }, (number) => execute(processes, number));
      await vi.waitUntil(() => calls.count >= 2000, { timeout: 90_000 });
      const called = await calls.stop();

      expect(strangers(called)).toEqual([]);
      expect(responder.found.length).toBe(called.length);
      expect(twice(responder.found)).toEqual([]);
      await isClean(processes);
      expect(processes.warnings()).toEqual([]);
    });
  });

  it('hand 500 open waits over at a SIGTERM and end within a second; no rule runs twice', async () => {
    const handedOver = Promise.withResolvers<void>();
    const does = echoes({ once: handedOver.promise });
    await withProcesses({ workers: 1, does }, async ({ processes, responder }) => {
      const calls = callSteadily({ perSecond: 250, openAtMost: 500 }, (number) => execute(processes, number));
      await vi.waitUntil(() => responder.found.length >= 500, { timeout: 60_000 });
      const answers = calls.stop();
      const [leaving] = processes.workers;
      const staying = await processes.addWorker();

      const { code, ms } = (await leaving?.terminate()) ?? { code: -1, ms: 0 };
      handedOver.resolve();
      expect(code).toBe(0);
      expect(ms).toBeLessThan(1000 + BUSY_MS);

      const called = await answers;
      expect(strangers(called)).toEqual([]);
      expect(responder.found).toHaveLength(500);
      await vi.waitFor(() => expect(staying.log.filter(({ msg }) => msg === 'answered')).toHaveLength(500), 30_000);
      await isClean(processes);
      expect(processes.warnings()).toEqual([]);
    });
  });

  it('are all replaced one after another under 200 calls a second: no call fails, no rule runs twice', async () => {
    await withProcesses({ apis: 1, workers: 3, does: echoes({ afterMs: 200 }) }, async ({ processes, responder }) => {
      const calls = callSteadily({ perSecond: 200 }, (number) => execute(processes, number));
      for (const old of [...processes.workers]) {
        await processes.addWorker();
        expect((await old.terminate()).code).toBe(0);
      }
      const called = await calls.stop();

      expect(strangers(called)).toEqual([]);
      expect(twice(responder.found)).toEqual([]);
      expect(called.length).toBeGreaterThan(200);
      await isClean(processes);
      expect(processes.warnings()).toEqual([]);
    });
  });

  it('finish the executions of an API that was killed', async () => {
    await withProcesses({ apis: 2, workers: 1, does: echoes({ afterMs: 1000 }) }, async ({ processes, responder }) => {
      const [dying, living] = processes.apis;
      const lost = Array.from({ length: 20 }, (_, number) => dying?.execute(bodyOf(number)).catch(() => 'cut off'));
      await vi.waitUntil(() => responder.found.length === 20, { timeout: 30_000 });
      await dying?.kill();
      expect(await Promise.all(lost)).toEqual(Array(20).fill('cut off'));

      const [worker] = processes.workers;
      await vi.waitFor(() => expect(worker?.log.filter(({ msg }) => msg === 'answered')).toHaveLength(20), 30_000);
      expect((await living?.execute(bodyOf(21)))?.status).toBe(200);
      expect(twice(responder.found)).toEqual([]);
      await isClean(processes);
    });
  });

  it('end at once at a second SIGTERM: open calls are cut, and their executions go on', async () => {
    const does = echoes({ afterMs: 2000 });
    await withProcesses({ apis: 2, workers: 1, does }, async ({ processes, responder }) => {
      const [stopping, other] = processes.apis;
      const cut = stopping?.execute(bodyOf(1)).then(
        () => 'answered',
        () => 'cut off',
      );
      const { mockId } = await responder.firstRequest();
      const stopped = stopping?.terminate();
      await stopping?.logged('stopping');
      const { code } = (await stopping?.terminate()) ?? {};
      expect([await cut, code, (await stopped)?.code]).toEqual(['cut off', 1, 1]);
      const state = async () => (await httpCall(`${other?.url}/rule-server/mock/executions/${mockId}`)).json.state;
      await vi.waitFor(async () => expect(await state()).toBe('succeeded'), 20_000);
    });
  });

  it('count the workers of their own database of Redis alone', async () => {
    await withProcesses({ workers: 1, does: echoes() }, async ({ processes }) => {
      const elsewhere = await claimRedisDatabase(redis.url);
      onTestFinished(() => elsewhere.stop());
      await using lonely = await startProcesses({ queueUrl: elsewhere.url, settings, apis: 0, workers: 0 });
      const alone = await lonely.addApi({ untilReady: false, settings: { QUEUE_TIMEOUT_MS: 1500 } });
      const workersAt = async (url: string) => (await httpCall(`${url}/readyz`)).json.workers;
      await vi.waitFor(async () => expect(await workersAt(processes.api.url)).toBe(1), 30_000);
      expect((await alone.execute(bodyOf(1))).json).toMatchObject({ code: 'no-worker', mayHaveRun: false });
      expect(await workersAt(alone.url)).toBe(0);
    });
  });

  type Parts = { processes: Processes; responder: Responder };
  type Setup = { apis?: number; workers: number; does: Responder['does'] };
  async function withProcesses({ does, ...counts }: Setup, use: (parts: Parts) => Promise<void>): Promise<void> {
    const database = await claimRedisDatabase(redis.url);
    try {
      await using processes = await startProcesses({ queueUrl: database.url, settings, ...counts });
      await using responder = await createResponder({ sharedDir: processes.sharedDir, app: 1, does });
      await use({ processes, responder });
      expect(processes.noise()).toEqual([]);
    } finally {
      await database.stop();
    }
  }
});

const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

/** Round robin over the APIs. */
function execute({ apis }: Processes, number: number) {
  const api = apis[number % apis.length];
  if (!api) throw new Error('there is no API');
  return api.execute(bodyOf(number));
}

async function isClean(processes: Processes): Promise<void> {
  await vi.waitFor(async () => expect(await processes.leftovers()).toEqual([]), { timeout: 20_000 });
}

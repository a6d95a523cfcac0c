import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { clockAhead } from '../support/wrong-clock.ts';

vi.setConfig({ testTimeout: 120_000 });

const choice = inject('redis');
const settings = { QUEUE_TIMEOUT_MS: 60_000, POLL_INTERVAL_MS: 250 };
/** A worker sweeps for the first time 2 s after its start. */
const FIRST_SWEEP_DONE_MS = 4000;

describe.skipIf(choice.kind === 'unavailable').concurrent('where a clock is wrong', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('a worker that is 20 minutes ahead sweeps no claim of an open execution: when its worker dies, it runs once', async () => {
    const database = await claimRedisDatabase(redis.url);
    await using processes = await startProcesses({ queueUrl: database.url, settings });
    const { api, sharedDir, workers } = processes;
    const answered = Promise.withResolvers<void>();
    await using client = await createResponder({ sharedDir, app: 1, does: echoes({ once: answered.promise }) });
    const call = api.execute({ app: 1, ruleId: 1, 'the service': { number: 1 } });
    await client.firstRequest();

    const ahead = await processes.addWorker({ settings: clockAhead(20) });
    await delay(FIRST_SWEEP_DONE_MS);
    await ahead.terminate();
    await workers[0]?.kill();
    await processes.addWorker();
    await delay(10_000); // by then the job of the dead worker was given out again
    answered.resolve();

    const { status, json } = await call;
    expect(client.found).toHaveLength(1);
    expect([status, json['the service']]).toEqual([200, { number: 1 }]);
    await database.stop();
  });
});

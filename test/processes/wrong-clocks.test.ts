import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { type Called, callSteadily, twice } from '../support/steady-calls.ts';
import { clockAhead } from '../support/wrong-clock.ts';

const choice = inject('redis');
const settings = { QUEUE_TIMEOUT_MS: 60_000, POLL_INTERVAL_MS: 250 };
const HURRIED = { ...settings, QUEUE_TIMEOUT_MS: 20_000, RESULT_TIMEOUT_MS: 15_000 };
/** A worker sweeps for the first time 2 s after its start. */
const FIRST_SWEEP_DONE_MS = 4000;

describe.skipIf(choice.kind === 'unavailable')('where a clock is wrong', () => {
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

  it.each([
    { wrong: 'workers are 20 minutes ahead and behind', api: 0, workers: [20, -20, 0] },
    { wrong: 'an API is 20 minutes behind', api: -20, workers: [0, 0, -20] },
    { wrong: 'the file server is 20 minutes ahead', api: -20, workers: [-20, -20, -20] },
    { wrong: 'the file server is 2 minutes behind', api: 2, workers: [2, 2, 2] },
  ])('$wrong: under load with kills nothing runs twice, and what is refused did not run', async ({ api, workers }) => {
    const database = await claimRedisDatabase(redis.url);
    await using processes = await startProcesses({ queueUrl: database.url, apis: 0, workers: 0, settings: HURRIED });
    const { sharedDir } = processes;
    const { execute } = await processes.addApi({ settings: clockAhead(api) });
    for (const minutes of workers) await processes.addWorker({ settings: clockAhead(minutes) });
    const ran: string[] = [];
    await using client = await createResponder({ sharedDir, app: 1, does: echoes({ afterMs: 1000, ran }) });

    const calls = callSteadily({ perSecond: 10, openAtMost: 40 }, (number) =>
      execute({ app: 1, ruleId: 1, 'the service': { number } }),
    );
    for (const [killed, minutes] of workers.entries()) {
      await delay(FIRST_SWEEP_DONE_MS);
      await processes.addWorker({ settings: clockAhead(minutes) });
      await processes.workers[killed]?.kill();
    }
    await delay(FIRST_SWEEP_DONE_MS);
    const called = await calls.stop();
    expect(twice(client.found)).toEqual([]);
    expect(
      lies(
        called,
        client.found.filter(({ mockId }) => ran.includes(mockId)),
      ),
    ).toEqual([]);
    await database.stop();
  });
});

/** Calls that ended with neither their own answer nor a sentence that is true. */
function lies(called: Called[], run: { text: string }[]): unknown[] {
  const ran = new Set(run.map(({ text }) => JSON.parse(text)['the service'].number));
  return called.filter(({ number, answer: { status, json } }) =>
    status === 200 ? json['the service'].number !== number : json.mayHaveRun !== true && ran.has(number),
  );
}

import { utimes } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { steps } from '../../src/worker/execution/steps.ts';
import { echoes } from '../support/echoes.ts';
import { startRedis } from '../support/redis.ts';
import { redisCommand } from '../support/redis-command.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { type Behaviour, createResponder, resultText } from '../support/responder.ts';
import { type Fault, startWorkerProcess } from '../support/start-process.ts';
import { type Service, startService } from '../support/start-service.ts';
import { watchStepFault } from '../support/step-fault.ts';
import { sweepLater } from '../support/sweep-later.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');
const signals = ['SIGKILL', 'SIGSTOP'] as const;
const PICKED_UP: Fault = { step: 'picked-up', signal: 'SIGKILL' };
/** In a whole run the processes of twelve cases start at once, beside other files. */
const BUSY = process.env.CI ? 2 : 1;
const TAKEN_OVER_WITHIN_MS = 10_000 * BUSY;
/** The settings of production, apart from the poll and, in a whole run, from how long a call may wait. */
const settings = {
  RESULT_TIMEOUT_MS: 60_000,
  QUEUE_TIMEOUT_MS: 10_000 * BUSY,
  POLL_INTERVAL_MS: 250,
  CLIENT_TIMEOUT_MS: 60_000,
};

describe.skipIf(choice.kind === 'unavailable').concurrent('a worker', () => {
  // A queue of its own for every case: more than one Redis has databases.
  const redis = new Map<Fault['signal'], RedisServer>();
  beforeAll(async () => {
    for (const signal of signals) redis.set(signal, await startRedis(choice));
  });
  afterAll(async () => {
    for (const server of redis.values()) await server.stop();
  });

  const cases = signals.flatMap((signal) => steps.map((step) => ({ signal, step })));
  it.each(cases)('gets a $signal $step: the caller gets its answer, and the client was asked once', async (fault) => {
    await withQueue(redis.get(fault.signal), (queueUrl) => survives(fault, queueUrl));
  });

  it('dies between completing and writing the history: its record is there within a minute, and stays', async () => {
    await withQueue(redis.get('SIGSTOP'), isInTheHistory);
  });

  it('falls asleep just before its claim, and others tell the caller that it did not run: then it does not', async () => {
    await withQueue(redis.get('SIGKILL'), staysUndispatched);
  });

  it('dies after the pick-up, and the client dates its answer an hour back: the next one finds it all the same', async () => {
    await withQueue(redis.get('SIGSTOP'), isAnsweredWithAnOldFile);
  });

  it('dies after it withdrew a request: the next one knows that it was not picked up', async () => {
    await withQueue(redis.get('SIGSTOP'), async (queueUrl) => {
      const answer = await endsWithdrawn(queueUrl, { RESULT_TIMEOUT_MS: 1000 });
      expect(answer).toEqual({ status: 504, code: 'not-picked-up', mayHaveRun: false });
    });
  });

  it('dies after it withdrew the request of a cancelled execution: it is cancelled all the same', async () => {
    await withQueue(redis.get('SIGSTOP'), async (queueUrl) => {
      const cancelled = await endsWithdrawn(queueUrl, {}, (mockId, { call }) =>
        call(`/rule-server/mock/executions/${mockId}`, { method: 'DELETE' }),
      );
      expect(cancelled).toEqual({ status: 409, code: 'cancelled', mayHaveRun: false });
    });
  });
});

async function withQueue(redis: RedisServer | undefined, use: (queueUrl: string) => Promise<void>): Promise<void> {
  const database = await claimRedisDatabase(redis?.url ?? '');
  try {
    await use(database.url);
  } finally {
    await database.stop();
  }
}

async function survives(fault: Fault, queueUrl: string): Promise<void> {
  const { call, ...seen } = await watchStepFault(fault, queueUrl, settings);
  expect(seen).toMatchObject({
    answer: { status: 200, data: call },
    dispatches: 1,
    exitCode: fault.signal === 'SIGSTOP' ? 0 : null,
    leftovers: [],
    noise: [],
  });
  expect(seen.takeoverMs).toBeLessThan(TAKEN_OVER_WITHIN_MS);
}

async function staysUndispatched(queueUrl: string): Promise<void> {
  const hurried = { ...settings, QUEUE_TIMEOUT_MS: 4000 }; // shorter than the lock of the worker that sleeps
  await using service = await startService({ queueUrl, workers: 0, settings: hurried, leavesFiles: true });
  const { sharedDir } = service;
  await using responder = await createResponder({ sharedDir, app: 1, does: echoes() });
  const fault: Fault = { step: 'before-claim', signal: 'SIGSTOP' };
  await using faulty = await startWorkerProcess({ queueUrl, sharedDir, settings: hurried, fault });

  const call = service.execute({ app: 1, ruleId: 1 });
  await faulty.logged('the fault happens');
  await service.addWorker();
  const { status, json } = await call;
  expect({ status, code: json.code, mayHaveRun: json.mayHaveRun }).toEqual({
    status: 503,
    code: 'overloaded',
    mayHaveRun: false,
  });

  faulty.wake();
  await faulty.logged('another worker has the execution by now, or it has ended');
  expect((await faulty.terminate()).code).toBe(0);
  expect(responder.found).toEqual([]);
  await sweepLater(sharedDir);
  expect(await service.leftovers()).toEqual([]);
}

async function isInTheHistory(queueUrl: string): Promise<void> {
  await using service = await startService({ queueUrl, workers: 0, settings, leavesFiles: true });
  const { sharedDir } = service;
  await using _responder = await createResponder({ sharedDir, app: 1, does: echoes() });
  await using faulty = await startWorkerProcess({
    ...{ queueUrl, sharedDir, settings },
    fault: { step: 'before-record', signal: 'SIGKILL' },
  });
  const call = service.execute({ app: 1, ruleId: 1, 'the service': { kept: true } });
  await faulty.logged('the fault happens');
  const { status, json } = await call;
  expect(status).toBe(200);
  const record = `{rule-server}:history:record:${json.mockId}`;
  expect(await redisCommand(queueUrl, 'EXISTS', record)).toBe(0);
  await vi.waitUntil(async () => (await redisCommand(queueUrl, 'EXISTS', record)) === 1, {
    timeout: 60_000,
    interval: 500,
  });
  const seen = await service.call(`/rule-server/mock/executions/${json.mockId}`);
  expect(seen.json).toMatchObject({ state: 'succeeded', result: { 'the service': { kept: true } } });
  const states = seen.json.history.map(({ state }: { state: string }) => state);
  expect(states.slice(0, 2)).toEqual(['queued', 'dispatched']);
  expect(states.at(-1)).toBe('succeeded');
  expect(service.log.filter(({ msg }) => msg.startsWith('added to the history'))).toHaveLength(1);
}

async function isAnsweredWithAnOldFile(queueUrl: string): Promise<void> {
  await using service = await startService({ queueUrl, workers: 0, settings });
  const { sharedDir } = service;
  const hourAgo = new Date(Date.now() - 3_600_000);
  const does: Behaviour = async (request) => {
    await request.pickUp();
    await faulty.logged('the fault happens');
    await request.answer(resultText(request, { 'the service': { dated: 'back' } }));
    await utimes(request.resultPath, hourAgo, hourAgo);
  };
  await using faulty = await startWorkerProcess({ queueUrl, sharedDir, settings, fault: PICKED_UP });
  await using _responder = await createResponder({ sharedDir, app: 1, does });
  const call = service.execute({ app: 1, ruleId: 1 });
  await faulty.logged('the fault happens');
  await service.addWorker();
  const { status, json } = await call;
  expect([status, json['the service']]).toEqual([200, { dated: 'back' }]);
}

/** How an execution ends whose first worker is killed when it has withdrawn the request, just before it says so. */
async function endsWithdrawn(
  queueUrl: string,
  more: Record<string, number>,
  cancel?: (mockId: string, service: Service) => Promise<unknown>,
) {
  const all = { ...settings, ...more };
  await using service = await startService({ queueUrl, workers: 0, settings: all, leavesFiles: true });
  const { sharedDir } = service;
  await using responder = await createResponder({ sharedDir, app: 1, does: () => {} });
  const fault: Fault = { step: 'before-completion', signal: 'SIGKILL' };
  await using faulty = await startWorkerProcess({ queueUrl, sharedDir, settings: all, fault });

  const call = service.execute({ app: 1, ruleId: 1 });
  const { mockId } = await responder.firstRequest();
  await cancel?.(mockId, service);
  await faulty.logged('the fault happens');
  await service.addWorker();
  const { status, json } = await call;
  await vi.waitFor(async () => expect(await service.leftovers()).toEqual([]), 20_000);
  return { status, code: json.code, mayHaveRun: json.mayHaveRun };
}

import { describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { callSteadily, strangers, twice } from '../support/steady-calls.ts';

const CALLS = 1000;
const OPEN = 200;

describe.skipIf(inject('sharedRedis') === null)('processes that share one queue and one directory', () => {
  it(`two APIs and two workers answer ${CALLS} calls: each its own, each dispatched once`, () =>
    withProcesses({ apis: 2, workers: 2, does: echoes() }, async ({ processes, responder }) => {
      const { apis, workers } = processes;
      const calls = callSteadily({ perSecond: 400 }, (number) => apis[number % 2]?.execute(bodyOf(number)) ?? never());
      await eventually(() => expect(calls.count).toBeGreaterThanOrEqual(CALLS), 120_000);
      const called = await calls.stop();
      expect(strangers(called)).toEqual([]);
      expect(responder.found).toHaveLength(called.length);
      expect(twice(responder.found)).toEqual([]);
      await eventually(() => {
        for (const { log } of workers) expect(log.map(({ msg }) => msg)).toContain('answered');
      });
    }));

  it(`a worker hands ${OPEN} open waits over at a SIGTERM and ends before any of them does; no rule runs twice`, async () => {
    const handedOver = Promise.withResolvers<void>();
    const does = echoes({ once: handedOver.promise });
    await withProcesses({ workers: 1, does }, async ({ processes, responder }) => {
      using _answered = { [Symbol.dispose]: handedOver.resolve }; // so that the client can stop, whatever failed
      const [leaving] = processes.workers;
      const calls = Array.from({ length: OPEN }, (_, number) => processes.api.execute(bodyOf(number)));
      await eventually(() => expect(responder.found).toHaveLength(OPEN), 60_000);
      const staying = await processes.addWorker();
      expect((await leaving?.terminate())?.code).toBe(0);
      handedOver.resolve();
      const answers = await Promise.all(calls);
      expect(answers.map(({ status, json }) => [status, json['the service']?.number])).toEqual(
        answers.map((_, number) => [200, number]),
      );
      expect(responder.found).toHaveLength(OPEN);
      await eventually(() => expect(staying.log.filter(({ msg }) => msg === 'answered')).toHaveLength(OPEN));
    });
  });

  it('an API is killed while it waits: its execution goes on, is in the history, and its key has the answer', async () => {
    const answerNow = Promise.withResolvers<void>();
    const does = echoes({ once: answerNow.promise });
    await withProcesses({ apis: 2, workers: 1, does }, async ({ processes, responder }) => {
      const [dying, living] = processes.apis;
      const keyed = { headers: { 'idempotency-key': 'once' } };
      const cut = dying?.execute(bodyOf(1), keyed).catch(() => 'cut off');
      const { mockId } = await responder.firstRequest();
      await dying?.kill();
      expect(await cut).toBe('cut off');
      answerNow.resolve();
      const again = await living?.execute(bodyOf(1), keyed);
      expect([again?.status, again?.json.mockId, again?.json['the service']]).toEqual([200, mockId, { number: 1 }]);
      const { json } = await httpCall(`${living?.url}/rule-server/mock/executions/${mockId}`);
      expect(json).toMatchObject({ state: 'succeeded', result: { mockId, success: true } });
      expect(responder.found).toHaveLength(1);
    });
  });

  it('an API ends at once at a second SIGTERM: its open call is cut, and its execution goes on', async () => {
    const answerNow = Promise.withResolvers<void>();
    const does = echoes({ once: answerNow.promise });
    await withProcesses({ apis: 2, workers: 1, does }, async ({ processes, responder }) => {
      const [stopping, other] = processes.apis;
      const cut = stopping?.execute(bodyOf(1)).catch(() => 'cut off');
      const { mockId } = await responder.firstRequest();
      const stopped = stopping?.terminate();
      await stopping?.logged('stopping');
      const { code } = (await stopping?.terminate()) ?? {};
      expect([await cut, code, (await stopped)?.code]).toEqual(['cut off', 1, 1]);
      answerNow.resolve();
      const state = async () => (await httpCall(`${other?.url}/rule-server/mock/executions/${mockId}`)).json.state;
      await eventually(async () => expect(await state()).toBe('succeeded'), 60_000);
    });
  });
});

type Parts = { processes: Processes; responder: Responder };
type Setup = { apis?: number; workers: number; does: Responder['does'] };

/** Afterwards no file of an execution is left, and no process complained. */
async function withProcesses({ does, ...counts }: Setup, use: (parts: Parts) => Promise<void>): Promise<void> {
  const database = await borrowDatabase();
  // A busy machine refuses no call for load, and tells no caller too early.
  const settings = { CLIENT_TIMEOUT_MS: 60_000, QUEUE_TIMEOUT_MS: 120_000, RESULT_TIMEOUT_MS: 120_000 };
  try {
    await using processes = await startProcesses({ queueUrl: database?.url ?? '', settings, ...counts });
    await using responder = await createResponder({ sharedDir: processes.sharedDir, app: 1, does });
    await use({ processes, responder });
    await eventually(async () => expect(await processes.leftovers()).toEqual([]), 60_000);
    expect(processes.warnings().filter(({ level }) => level >= 50)).toEqual([]);
    expect(processes.noise()).toEqual([]);
  } finally {
    await database?.stop();
  }
}

const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

function never(): never {
  throw new Error('there is no API');
}

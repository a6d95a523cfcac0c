import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { type Pressed, startPressing } from '../support/press.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder, type FoundRequest } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

const choice = inject('redis');

/**
 * A worker that can begin at most 100 a second, on any machine: it may have 10 at a time, and the client takes 100 ms. Calls are
 * refused behind a wait of 12 s; were they not, each would wait for its whole 20 s.
 */
const FULL = { WORKER_CONCURRENCY: 10, QUEUE_TIMEOUT_MS: 20_000, LOG_LEVEL: 'info' };
const CLIENT_MS = 100;
const PER_SECOND = 300;
/** What the first calls find is no backlog yet: it is counted what becomes of later ones. */
const STEADY_FROM_MS = 8000;
const ENOUGH = 50;

/** Of 400 calls 50 are at the client at a time, for 1.5 s; the others wait for a slot there. */
const SLOW_CLIENT = { MAX_WAITS_PER_CLIENT: 50, QUEUE_TIMEOUT_MS: 25_000, LOG_LEVEL: 'info' };
const SLOW_MS = 1500;

describe.skipIf(choice.kind === 'unavailable')('a worker', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('that gets more calls than it can begin goes on answering; what is refused did not run', async () => {
    await withProcesses(FULL, async (processes) => {
      const does = echoes({ afterMs: CLIENT_MS });
      await using client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does });
      const before = await repeat(processes);
      expect(before.status).toBe(200);
      using load = await startPressing(processes.api.url, PER_SECOND);

      await processes.api.logged('calls were refused: they come faster than the workers can begin them');
      const steady = (wanted: number) =>
        load.ended.filter(({ at, status }) => at >= STEADY_FROM_MS && status === wanted).length;
      const isEnough = eventually(() => expect(Math.min(steady(200), steady(503))).toBeGreaterThan(ENOUGH), 120_000);
      const meanwhile = await lookMeanwhile(processes, isEnough);
      await isEnough;
      const made = load.stop();
      await isServed(processes, 60_000); // a machine with much to do works off the backlog slowly

      expect(meanwhile.repeats).toEqual(meanwhile.repeats.map(() => before.text));
      expect(meanwhile.lists).toEqual(meanwhile.lists.map(() => 200));
      expect(meanwhile.lists.length).toBeGreaterThan(0);
      expect(load.ended).toHaveLength(await made);
      areHonest(load.ended, client.found);
    });
  });

  it('whose 400 calls wait at a slow client, or for a slot there, is not too busy for another client', async () => {
    await withProcesses(SLOW_CLIENT, async (processes) => {
      const { sharedDir, api } = processes;
      await using slow = await createResponder({ sharedDir, app: 1, does: echoes({ afterMs: SLOW_MS }) });
      await using other = await createResponder({ sharedDir, app: 2, does: echoes() });
      const call = (app: number, number: number) => api.execute({ app, ruleId: 1, 'the service': { number } });
      const waiting = Promise.all(Array.from({ length: 400 }, (_, number) => call(1, number)));
      await eventually(
        () => expect(slow.found.length).toBeGreaterThanOrEqual(SLOW_CLIENT.MAX_WAITS_PER_CLIENT),
        60_000,
      );
      const others: Answer[] = [];
      for (const done = whenOver(waiting); !done.isOver; await delay(50)) others.push(await call(2, others.length));

      expect(others.length).toBeGreaterThan(5);
      expect(others.filter(({ status }) => status !== 200).map(({ json }) => json)).toEqual([]);
      expect((await waiting).filter(({ status }) => status !== 200).map(({ json }) => json)).toEqual([]);
      expect(twice([...slow.found, ...other.found])).toEqual([]);
    });
  });

  async function withProcesses(
    settings: Record<string, string | number>,
    use: (processes: Processes) => Promise<void>,
  ) {
    const database = await claimRedisDatabase(redis.url);
    try {
      await using processes = await startProcesses({
        queueUrl: database.url,
        settings: { CLIENT_TIMEOUT_MS: 60_000, ...settings },
      });
      await use(processes);
      await eventually(async () => expect(await processes.leftovers()).toEqual([]));
      expect(processes.noise()).toEqual([]);
    } finally {
      await database.stop();
    }
  }
});

const KEYED = { app: 1, ruleId: 1, 'the service': { number: -1 } };

/** The same call under the same key, which runs once. */
function repeat({ api }: Processes): Promise<Answer> {
  return api.execute(KEYED, { headers: { 'idempotency-key': 'once' } });
}

/** Until the task is over: what the list of executions answers, and the repeat of a call that ran before. */
async function lookMeanwhile(processes: Processes, task: Promise<unknown>) {
  const lists: number[] = [];
  const repeats: string[] = [];
  for (const done = whenOver(task); !done.isOver; await delay(50)) {
    repeats.push((await repeat(processes)).text);
    lists.push((await httpCall(`${processes.api.url}/rule-server/mock/executions`)).status);
  }
  return { lists, repeats };
}

function whenOver(task: Promise<unknown>): { readonly isOver: boolean } {
  const done = { isOver: false };
  const over = () => {
    done.isOver = true;
  };
  task.then(over, over);
  return done;
}

/** Resolves once a call that is made now, or a little later, was answered; rejects when that takes longer. */
async function isServed({ api }: Processes, withinMs: number): Promise<void> {
  const status = async () => (await api.execute({ app: 1, ruleId: 1, 'the service': { number: -2 } })).status;
  await eventually(async () => expect(await status()).toBe(200), withinMs);
}

/** `fenced`: the time of the call was over before a worker began it. */
const REFUSALS = ['overloaded', 'fenced'];

/** Each call was answered, or told that it did not run and when to come again; no rule ran twice, and none of which that was said. */
function areHonest(calls: Pressed[], found: FoundRequest[]): void {
  const isAnswered = ({ status, number, echoed }: Pressed) => status === 200 && echoed === number;
  const isRefused = ({ status, code = '', mayHaveRun, retryAfter }: Pressed) =>
    status === 503 && REFUSALS.includes(code) && mayHaveRun === false && Number(retryAfter) >= 1;
  expect(calls.filter((call) => !isAnswered(call) && !isRefused(call)).slice(0, 3)).toEqual([]);
  const numbers = found
    .map(({ text }): number => JSON.parse(text)['the service'].number)
    .filter((number) => number >= -1);
  expect(numbers.length - new Set(numbers).size).toBe(0);
  expect(twice(found)).toEqual([]);
  const refused = new Set(calls.filter(({ mayHaveRun }) => mayHaveRun === false).map(({ number }) => number));
  expect(numbers.filter((number) => refused.has(number))).toEqual([]);
}

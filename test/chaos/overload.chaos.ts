import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createCrowd } from '../support/crowd.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import type { Answer } from '../support/http-call.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { eventLoopLagMs, peakMemory } from '../support/process-load.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';
import { sweepLater } from '../support/sweep-later.ts';
import { isFull, recordLoad } from './measured.ts';

const MIB = 1024 * 1024;
const OPEN = isFull ? 10_000 : 1000;
const BURST = isFull ? 5000 : 2000;
const LARGE = isFull ? 200 : 40;
const OPENED_PER_SECOND = isFull ? 1000 : 500;
/** What no process may ever need, and how long nobody else may have to wait, whatever comes. */
const BOUNDS = { api: 1024 * MIB, worker: 1024 * MIB, redis: 512 * MIB, othersMs: 3000 };
/** Long enough for all of them to be open at once, on a slow machine as well. */
const PATIENT = { CLIENT_TIMEOUT_MS: 3_600_000, RESULT_TIMEOUT_MS: 300_000, QUEUE_TIMEOUT_MS: 30_000 };

type Settings = Record<string, string | number>;

describe.skipIf(!inject('hasRedisBinary'))('with much to do', () => {
  it.each([
    { clients: 'one client', count: 1 },
    { clients: '1,000 clients', count: 1000 },
  ])(
    `${OPEN} open waits at $clients: others are answered meanwhile, and in the end all`,
    async ({ clients, count }) => {
      await using setup = await start({ ...PATIENT, MAX_WAITS_PER_CLIENT: OPEN, WORKER_CONCURRENCY: OPEN });
      await using crowd = await createCrowd({ sharedDir: setup.sharedDir, app: 1, clients: count });
      await using other = await createResponder({ sharedDir: setup.sharedDir, app: 2, does: echoes() });
      const calls = await callPaced(setup.processes, { app: 1, count: OPEN });
      await eventually(async () => expect(await crowd.waiting()).toBe(OPEN), 120_000);
      await setup.lag(); // from here on
      const others = await callOneByOne(setup.processes, { app: 2, count: 50 });
      const idleLag = await setup.lag();
      crowd.startAnswering();
      const ended = await Promise.all(calls);
      await setup.record({
        load: `${OPEN} open waits at ${clients}`,
        ended,
        others,
        lag: idleLag,
        twice: twice([...crowd.found, ...other.found]).length,
      });
      expect(ended.filter(({ kind }) => kind !== 'answered')).toEqual([]);
      expect(others.filter(({ kind }) => kind !== 'answered')).toEqual([]);
      expect(twice(crowd.found)).toEqual([]);
      await setup.recovers(2);
    },
  );

  it(`a burst of ${BURST} calls at once: each is answered, or refused cleanly`, async () => {
    await using setup = await start({ CLIENT_TIMEOUT_MS: 3_600_000 });
    await using crowd = await createCrowd({ sharedDir: setup.sharedDir, app: 1, clients: 10 });
    crowd.startAnswering();
    await setup.lag();
    const ended = await callAtOnce(setup.processes, { app: 1, count: BURST });
    const lag = await setup.lag();
    await setup.record({ load: `${BURST} calls at once`, ended, lag, twice: twice(crowd.found).length });
    expect(ended.filter(({ kind }) => kind === 'lost')).toEqual([]);
    expect(answeredShare(ended)).toBeGreaterThan(0.5);
    expect(twice(crowd.found)).toEqual([]);
    await setup.recovers(1);
  });

  it(`${LARGE} results of 5 MiB at once: each arrives whole, and memory stays bounded`, async () => {
    await using setup = await start({ CLIENT_TIMEOUT_MS: 3_600_000, HISTORY_BYTES: 64 * MIB });
    const does = echoes({ more: { filler: 'x'.repeat(5 * MIB) } });
    await using client = await createResponder({ sharedDir: setup.sharedDir, app: 1, does });
    await setup.lag();
    const ended = await callAtOnce(setup.processes, { app: 1, count: LARGE });
    const lag = await setup.lag();
    await setup.record({ load: `${LARGE} results of 5 MiB at once`, ended, lag, twice: twice(client.found).length });
    expect(ended.filter(({ kind }) => kind === 'lost')).toEqual([]);
    expect(answeredShare(ended)).toBeGreaterThan(0.5);
    await setup.recovers(1);
  });

  it('a client that never answers: others notice nothing, and it gets no more than its share', async () => {
    await using setup = await start({
      MAX_WAITS_PER_CLIENT: 100,
      RESULT_TIMEOUT_MS: isFull ? 20_000 : 8000,
      QUEUE_TIMEOUT_MS: 6000,
    });
    const { sharedDir, processes } = setup;
    await using silent = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
    await using other = await createResponder({ sharedDir, app: 2, does: echoes() });
    const before = await callOneByOne(processes, { app: 2, count: 100 });
    const unanswered = callAtOnce(processes, { app: 1, count: 2000 });
    await eventually(() => expect(silent.found.length).toBeGreaterThanOrEqual(100), 20_000);
    await setup.lag();
    const others = await callOneByOne(processes, { app: 2, count: 100 });
    const lag = await setup.lag();
    const ended = await unanswered;
    await setup.record({
      load: '2000 calls to a client that never answers',
      ended: ended.map((call) => ({ ...call, kind: isHonest(call) ? 'refused' : 'lost' })),
      others,
      lag,
      twice: twice([...silent.found, ...other.found]).length,
    });
    expect(ended.filter((call) => !isHonest(call))).toEqual([]);
    expect([...before, ...others].filter(({ kind }) => kind !== 'answered')).toEqual([]);
    expect(medianMs(others)).toBeLessThan(10 * medianMs(before) + 100);
    silent.does = echoes();
    await setup.recovers(1);
  });
});

type Ended = { number: number; kind: 'answered' | 'refused' | 'lost'; ms: number; status: number; code: string };

/** Two APIs, two workers and a Redis of their own, and what they need for what they do. */
async function start(settings: Settings) {
  const redis = await startRedisProcess();
  const ports = [await freePort(), await freePort()];
  const processes = await startProcesses({
    queueUrl: redis.url,
    settings: { LOG_LEVEL: 'info', ...settings },
    apis: 2,
    workers: 0,
  });
  for (const port of ports) await processes.addWorker({ settings: { WORKER_PORT: port } });
  const urls = [...processes.apis.map(({ url }) => url), ...ports.map((port) => `http://127.0.0.1:${port}`)];
  const memoryOf = (some: { pid: number }[]) => Math.max(...some.map(({ pid }) => peakMemory(pid)));

  return {
    processes,
    sharedDir: processes.sharedDir,
    /** The worst of all processes since it was asked last, in ms. */
    async lag() {
      const lags = await Promise.all(urls.map(eventLoopLagMs));
      return { p99: Math.max(...lags.map(({ p99 }) => p99)), max: Math.max(...lags.map(({ max }) => max)) };
    },
    async record({
      load,
      ended,
      others = [],
      ...more
    }: {
      load: string;
      ended: Ended[];
      others?: Ended[];
      lag: { p99: number; max: number };
      twice: number;
    }) {
      const memory = {
        api: memoryOf(processes.apis),
        worker: memoryOf(processes.workers),
        redis: await redisPeak(redis.url),
      };
      recordLoad({
        load,
        calls: ended.length,
        refused: ended.filter(({ kind }) => kind === 'refused').length,
        lost: ended.filter(({ kind }) => kind === 'lost').length,
        othersMs: others.length > 0 ? medianMs(others) : null,
        memory,
        ...more,
      });
      for (const kind of ['api', 'worker', 'redis'] as const)
        expect([kind, memory[kind] < BOUNDS[kind]]).toEqual([kind, true]);
      for (const { ms } of others) expect(ms).toBeLessThan(BOUNDS.othersMs);
    },
    /** Nothing is left of the load: a new call is answered at once, no process complained, no file is left. */
    async recovers(app: number) {
      const [call] = await callOneByOne(processes, { app, count: 1 });
      expect(call).toMatchObject({ kind: 'answered' });
      expect(processes.noise()).toEqual([]);
      await sweepLater(processes.sharedDir);
      expect(await processes.leftovers()).toEqual([]);
      expect(await privateLeftovers(processes.sharedDir)).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      await processes[Symbol.asyncDispose]();
      await redis.stop();
    },
  };
}

type Calls = { app: number; count: number };

/** Never rejects: a connection that breaks is a call that was lost. */
async function call({ apis }: Processes, app: number, number: number): Promise<Ended> {
  const startedAt = performance.now();
  const ended = (how: Pick<Ended, 'kind' | 'status' | 'code'>) => ({
    number,
    ms: performance.now() - startedAt,
    ...how,
  });
  try {
    const answer = await apis[number % apis.length]?.execute({ app, ruleId: 1, 'the service': { number } });
    if (!answer) throw new Error('there is no API');
    return ended({ kind: kindOf(answer, number), status: answer.status, code: answer.json?.code });
  } catch (error) {
    return ended({ kind: 'lost', status: 0, code: String(error) });
  }
}

function kindOf({ status, json }: Answer, number: number): Ended['kind'] {
  if (status === 200 && json?.['the service']?.number === number) return 'answered';
  return status === 503 && json?.mayHaveRun === false ? 'refused' : 'lost';
}

/** What a call of a client that never answers may end with. */
function isHonest({ code }: Ended): boolean {
  return code === 'no-answer' || code === 'overloaded';
}

/** Resolves once all calls are made, to their endings. */
async function callPaced(processes: Processes, { app, count }: Calls): Promise<Promise<Ended>[]> {
  const calls: Promise<Ended>[] = [];
  const startedAt = Date.now();
  while (calls.length < count) {
    const due = Math.min(count, ((Date.now() - startedAt) * OPENED_PER_SECOND) / 1000);
    while (calls.length < due) calls.push(call(processes, app, calls.length));
    await delay(10);
  }
  return calls;
}

function callAtOnce(processes: Processes, { app, count }: Calls): Promise<Ended[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => call(processes, app, number)));
}

async function callOneByOne(processes: Processes, { app, count }: Calls): Promise<Ended[]> {
  const ended: Ended[] = [];
  for (let number = 0; number < count; number++) ended.push(await call(processes, app, number));
  return ended;
}

function answeredShare(calls: Ended[]): number {
  return calls.filter(({ kind }) => kind === 'answered').length / calls.length;
}

function medianMs(calls: Ended[]): number {
  return calls.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(calls.length / 2)] ?? Number.NaN;
}

async function redisPeak(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    const [, bytes = '0'] = (await redis.info('memory')).match(/^used_memory_peak:(\d+)/m) ?? [];
    return Number(bytes);
  } finally {
    redis.disconnect();
  }
}

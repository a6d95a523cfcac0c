import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createCrowd } from '../support/crowd.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { eventLoopLagMs, peakMemory } from '../support/process-load.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { sweepLater } from '../support/sweep-later.ts';
import { isFull, recordLoad } from './measured.ts';
import { openStory } from './story.ts';
import { brokenIn, verdictOf } from './verdict.ts';

const MIB = 1024 * 1024;
const OPEN = isFull ? 10_000 : 1000;
const BURST = isFull ? 5000 : 2000;
const LARGE = isFull ? 200 : 40;
/** If more than 200 calls waited for a worker, the next ones would be refused for load. */
const NOT_BEGUN_AT_MOST = 150;
/** What no process may ever need, whatever comes. */
const BOUNDS = { api: 1024 * MIB, worker: 1024 * MIB, redis: 512 * MIB };
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
      const load = `${OPEN} open waits at ${clients}`;
      await using setup = await start(load, { ...PATIENT, MAX_WAITS_PER_CLIENT: OPEN, WORKER_CONCURRENCY: OPEN });
      await using crowd = await createCrowd({ sharedDir: setup.sharedDir, app: 1, clients: count });
      await using other = await createResponder({ sharedDir: setup.sharedDir, app: 2, does: echoes() });
      const calls = await callAsBegun(setup, { app: 1, count: OPEN, begun: crowd.waiting });
      await eventually(async () => expect(await crowd.waiting()).toBe(OPEN), 120_000);
      await setup.lag(); // from here on
      const others = await callOneByOne(setup, { app: 2, count: 50 });
      const idleLag = await setup.lag();
      crowd.startAnswering();
      await Promise.all(calls);
      const found = [...crowd.found, ...other.found.map(numbered)];
      const verdict = await setup.judge({ calls: OPEN, found, others, lag: idleLag });
      expect(verdict.answered).toBe(OPEN + others.length);
      await setup.recovers(2);
    },
  );

  it(`a burst of ${BURST} calls at once: each is answered, or refused cleanly`, async () => {
    await using setup = await start(`${BURST} calls at once`, { CLIENT_TIMEOUT_MS: 3_600_000 });
    await using crowd = await createCrowd({ sharedDir: setup.sharedDir, app: 1, clients: 10 });
    crowd.startAnswering();
    await setup.lag();
    await callAtOnce(setup, { app: 1, count: BURST });
    const verdict = await setup.judge({ calls: BURST, found: crowd.found, lag: await setup.lag() });
    expect(verdict.answered).toBeGreaterThan(BURST / 2);
    await setup.recovers(1);
  });

  it(`${LARGE} results of 5 MiB at once: each arrives whole, and memory stays bounded`, async () => {
    const load = `${LARGE} results of 5 MiB at once`;
    await using setup = await start(load, { CLIENT_TIMEOUT_MS: 3_600_000, HISTORY_BYTES: 64 * MIB });
    const does = echoes({ more: { filler: 'x'.repeat(5 * MIB) } });
    await using client = await createResponder({ sharedDir: setup.sharedDir, app: 1, does });
    await setup.lag();
    await callAtOnce(setup, { app: 1, count: LARGE });
    const verdict = await setup.judge({ calls: LARGE, found: client.found.map(numbered), lag: await setup.lag() });
    expect(verdict.answered).toBeGreaterThan(LARGE / 2);
    await setup.recovers(1);
  });

  it('a client that never answers: others notice nothing, and it gets no more than its share', async () => {
    const settings = { RESULT_TIMEOUT_MS: isFull ? 20_000 : 15_000, QUEUE_TIMEOUT_MS: 6000, MAX_WAITS_PER_CLIENT: 100 };
    const honest = ['no-answer', 'overloaded', 'fenced']; // on a slow machine, the time of some is over before a worker begins them
    await using setup = await start('2000 calls to a client that never answers', settings, honest);
    const { sharedDir } = setup;
    await using silent = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
    await using other = await createResponder({ sharedDir, app: 2, does: echoes() });
    const before = await callOneByOne(setup, { app: 2, count: 100 });
    const unanswered = callAtOnce(setup, { app: 1, count: 2000 });
    await eventually(() => expect(silent.found.length).toBeGreaterThanOrEqual(100), 120_000);
    // While 1,900 calls too many come and go, others may be refused for load. Then the client has its share, and is silent.
    const tooMany = () => 2000 - silent.found.length;
    await eventually(() => expect(setup.ended()).toBeGreaterThanOrEqual(before.length + tooMany()), 120_000);
    await delay(1000); // the measure of the load is that of the last second
    await setup.lag();
    const others = await callOneByOne(setup, { app: 2, count: 100 });
    const lag = await setup.lag();
    await unanswered;
    const found = [...silent.found, ...other.found].map(numbered);
    const verdict = await setup.judge({ calls: 2000, found, others, lag });
    expect(verdict.answered).toBe(before.length + others.length);
    silent.does = echoes();
    await setup.recovers(1);
  });
});

type Found = { mockId: string; number: number };
const numbered = ({ mockId, text }: { mockId: string; text: string }): Found => ({
  mockId,
  number: JSON.parse(text)['the service'].number,
});
/** `others`: how long calls of other clients took meanwhile. */
type Judged = { calls: number; found: Found[]; others?: number[]; lag: { p99: number; max: number } };
type Setup = Awaited<ReturnType<typeof start>>;

/** Two APIs, two workers and a Redis of their own, and what they need for what they do. `honest`: see `openStory`. */
async function start(load: string, settings: Settings, honest?: readonly string[]) {
  const story = openStory(load, honest && { honest });
  let [made, ended] = [0, 0];
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
    sharedDir: processes.sharedDir,
    /** Makes a call with a number of its own, and resolves to how long it took. A connection that breaks is in the story. */
    async call(app: number): Promise<number> {
      const number = made++;
      const began = performance.now();
      const api = processes.apis[number % processes.apis.length];
      await story
        .call(number, async () => {
          if (!api) throw new Error('there is no API');
          return api.execute({ app, ruleId: 1, 'the service': { number } });
        })
        .catch(() => {});
      ended++;
      return performance.now() - began;
    },
    /** The worst of all processes since it was asked last, in ms. */
    async lag() {
      const lags = await Promise.all(urls.map(eventLoopLagMs));
      return { p99: Math.max(...lags.map(({ p99 }) => p99)), max: Math.max(...lags.map(({ max }) => max)) };
    },
    /** How many calls have ended. */
    ended: () => ended,
    /** Judges the story so far. */
    async judge({ calls, found, others = [], lag }: Judged) {
      for (const { mockId, number } of found) story.found(mockId, number);
      const verdict = verdictOf(story.entries());
      const memory = {
        api: memoryOf(processes.apis),
        worker: memoryOf(processes.workers),
        redis: await redisPeak(redis.url),
      };
      recordLoad({
        ...{
          load,
          calls,
          refused: verdict.refused,
          lost: verdict.lost.length + verdict.cutOff,
        },
        ...{ twice: verdict.foundTwice.length, othersMs: others.length > 0 ? medianMs(others) : null, memory, lag },
      });
      expect(brokenIn(verdict)).toEqual([]);
      expect(verdict.cutOff).toBe(0);
      if (!honest) expect(verdict.unsure).toBe(0);
      for (const kind of ['api', 'worker', 'redis'] as const)
        expect([kind, memory[kind] < BOUNDS[kind]]).toEqual([kind, true]);
      return verdict;
    },
    /** Nothing is left of the load: a new call is answered at once, no process complained, no file is left. */
    async recovers(app: number) {
      const answer = await processes.apis[0]?.execute({ app, ruleId: 1, 'the service': { number: made } });
      expect(answer?.status).toBe(200);
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

/** Makes calls as fast as workers begin them. Resolves once all are made, to how long each takes. */
async function callAsBegun({ call }: Setup, { app, count, begun }: Calls & { begun: () => Promise<number> }) {
  const calls: Promise<number>[] = [];
  while (calls.length < count) {
    const room = NOT_BEGUN_AT_MOST - (calls.length - (await begun()));
    for (let more = Math.min(room, count - calls.length); more > 0; more--) calls.push(call(app));
    await delay(200);
  }
  return calls;
}

function callAtOnce({ call }: Setup, { app, count }: Calls): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => call(app)));
}

async function callOneByOne({ call }: Setup, { app, count }: Calls): Promise<number[]> {
  const times: number[] = [];
  for (let made = 0; made < count; made++) times.push(await call(app));
  return times;
}

function medianMs(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
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

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import type { Answer } from '../support/http-call.ts';
import { type ClusterNode, hostOf, type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { redisCommand } from '../support/redis-command.ts';
import type { RedisProcess } from '../support/redis-process.ts';
import { portOf, SENTINEL_PASSWORD, type Sentinels, startSentinels } from '../support/redis-sentinels.ts';
import { createResponder, type Responder, resultText } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { callSteadily } from '../support/steady-calls.ts';
import { recordFailOver } from './measured.ts';
import { openStory, type Story } from './story.ts';
import { againAfter, brokenIn, longestTakeover, verdictOf } from './verdict.ts';

const RATE = { perSecond: 25, openAtMost: 300 };
const [BEFORE_MS, AFTER_MS] = [1000, 3000];
const CLIENT_MS = 300;
const PREFIX = '{chaos}';
const common = { CLIENT_TIMEOUT_MS: 60_000, MAX_WAITS_PER_CLIENT: 5000, QUEUE_PREFIX: PREFIX };
const ANSWERED = 'every caller gets the client’s answer or an honest refusal';

/** `movedAt`: when another server was master. */
type Fault = { failOver: string; promise?: string; happens(): Promise<number> };

let processes: Processes;
let responder: Responder;
/** The story of the test that runs now. */
let story: Story;

async function startService(queueUrl: string): Promise<void> {
  processes = await startProcesses({ queueUrl, settings: { ...common, SENTINEL_PASSWORD }, apis: 2, workers: 2 });
  responder = await createResponder({
    sharedDir: processes.sharedDir,
    app: 1,
    does: async (request) => {
      const data = JSON.parse(request.text)['the service'];
      const { found, ran, wrote, dice } = story;
      found(request.mockId, data.number);
      const pickedUp = await request.pickUp().then(() => true, unless('ENOENT'));
      if (!pickedUp) return;
      ran(data.number);
      await delay(dice.whole(0, CLIENT_MS));
      await request.answer(resultText(request, { 'the service': data }));
      wrote(data.number);
    },
  });
}

async function stopService(): Promise<void> {
  await responder[Symbol.asyncDispose]();
  await processes[Symbol.asyncDispose]();
}

/** Calls go on all the time; the fault happens among them. */
async function goesThrough({ failOver, promise = ANSWERED, happens }: Fault): Promise<void> {
  story = openStory(failOver);
  const first = story.dice.whole(0, 1_000_000) * 1000;
  const { call } = story;
  const calls = callSteadily(RATE, (number) => call(first + number, () => execute(first + number)));
  await delay(BEFORE_MS);
  story.fault(failOver, 'begins');
  const movedAt = await happens();
  story.fault(failOver, 'ends', { at: movedAt });
  await delay(AFTER_MS);
  await calls.stop();

  const entries = story.entries();
  const verdict = verdictOf(entries);
  const againMs = againAfter(entries);
  recordFailOver({
    ...{ failOver, promise, test: 'fail-overs.chaos.ts', calls: verdict.calls, refused: verdict.refused, againMs },
    openMs: longestTakeover(entries, 'at-its-end'),
    ...{ lost: verdict.lost.length + verdict.cutOff, twice: verdict.foundTwice.length },
  });
  expect(brokenIn(verdict)).toEqual([]);
  expect(verdict.cutOff).toBe(0); // no API goes away
  expect(Number.isFinite(againMs)).toBe(true); // calls made during the fault were answered after it
  expect(processes.noise()).toEqual([]);
}

function execute(number: number, headers: Record<string, string> = {}): Promise<Answer> {
  const running = processes.apis.filter(({ isRunning }) => isRunning);
  const api = running[number % running.length];
  if (!api) throw new Error('there is no API');
  return api.execute({ app: 1, ruleId: 1, 'the service': { number } }, { headers });
}

describe.skipIf(!inject('hasRedisBinary'))('behind Sentinels', () => {
  let sentinels: Sentinels;
  beforeAll(async () => {
    sentinels = await startSentinels();
    await startService(sentinels.url);
  });
  afterAll(async () => {
    await stopService();
    await sentinels[Symbol.asyncDispose]();
  });

  /** All servers run, and two of them follow the master. */
  async function mended(): Promise<RedisProcess> {
    return vi.waitFor(
      async () => {
        for (const server of sentinels.servers) if (!server.isRunning()) await server.start();
        const master = await sentinels.master(); // on a slow machine there may be another one by now
        for (const server of sentinels.servers)
          if (server !== master) await redisCommand(server.url, 'REPLICAOF', '127.0.0.1', portOf(master));
        const [, , replicas] = (await redisCommand(master.url, 'ROLE')) as [string, number, unknown[]];
        expect(replicas).toHaveLength(2);
        return master;
      },
      { timeout: 300_000, interval: 500 },
    );
  }

  it('a fail-over by command', async () => {
    const old = await mended();
    await goesThrough({
      failOver: 'Sentinel: fail-over by command',
      happens: async () => {
        await sentinels.failOver();
        return sentinels.moved(old);
      },
    });
  });

  it('the master frozen, and back as a replica', async () => {
    const old = await mended();
    await goesThrough({
      failOver: 'Sentinel: the master frozen until it was replaced, and back as a replica',
      happens: async () => {
        await old.pause();
        const movedAt = await sentinels.moved(old);
        await delay(1000);
        await old.resume();
        return movedAt;
      },
    });
  });

  it('a master that dies with writes that no replica has', async () => {
    const old = await mended();
    const replicas = sentinels.servers.filter((server) => server !== old);
    await goesThrough({
      failOver: 'Sentinel: SIGKILL of the master, with 0.8 s of writes that no replica got',
      happens: async () => {
        await Promise.all(replicas.map((replica) => replica.pause()));
        await delay(800);
        const [, offset, [[, , kept = '0'] = []] = []] = (await redisCommand(old.url, 'ROLE')) as [
          string,
          number,
          string[][],
        ];
        expect(offset - Number(kept)).toBeGreaterThan(10_000); // else nothing is lost
        await old.kill();
        await Promise.all(replicas.map((replica) => replica.resume()));
        return sentinels.moved(old);
      },
    });
  });

  it('SIGKILL of the master', async () => {
    const old = await mended();
    await goesThrough({
      failOver: 'Sentinel: SIGKILL of the master',
      happens: async () => {
        await old.kill();
        return sentinels.moved(old);
      },
    });
  });

  it('a rolling upgrade of APIs and workers meanwhile: every call that is repeated under its key is answered, once', async () => {
    const old = await mended();
    const failOver = 'Sentinel: all APIs and workers replaced during a fail-over';
    story = openStory(failOver);
    const { call } = story;
    const first = story.dice.whole(0, 1_000_000) * 1000;
    const foundBefore = responder.found.length;
    const calls = callSteadily({ perSecond: 15 }, (number) =>
      call(first + number, () => untilAnswered(first + number)),
    );
    await delay(BEFORE_MS);
    story.fault(failOver, 'begins');
    const replaced = [...processes.apis, ...processes.workers].filter(({ isRunning }) => isRunning);
    await Promise.all([processes.addApi({ untilReady: false }), processes.addWorker({ untilReady: false })]);
    const movedAt = sentinels.failOver().then(() => sentinels.moved(old));
    for (const process of replaced) await process.terminate();
    story.fault(failOver, 'ends', { at: await movedAt });
    await delay(AFTER_MS);
    const called = await calls.stop();
    const verdict = verdictOf(story.entries());
    recordFailOver({
      failOver,
      promise: 'every call, repeated under its Idempotency-Key when it was refused, gets the client’s answer',
      ...{ test: 'fail-overs.chaos.ts', calls: verdict.calls, refused: verdict.refused, againMs: 0 },
      openMs: Math.max(...called.map(({ ms }) => ms)),
      ...{ lost: verdict.lost.length + verdict.cutOff, twice: verdict.ranTwice.length },
    });
    expect(brokenIn(verdict)).toEqual([]);
    expect(verdict.answered).toBe(called.length);
    expect(new Set(responder.found.slice(foundBefore).map(({ mockId }) => mockId)).size).toBe(called.length);
  });
});

/** As a careful caller does it: the same call under the same key, as long as the answer says when to send it again. */
async function untilAnswered(number: number): Promise<Answer> {
  const headers = { 'idempotency-key': randomUUID() };
  for (let attempt = 1; ; attempt++) {
    const answer = await execute(number, headers).catch(() => undefined);
    const mayComeAgain = answer && ([409, 503].includes(answer.status) || 'retry-after' in answer.headers);
    if (answer && !mayComeAgain) return answer;
    if (attempt === 100) throw new Error(`call ${number} was never answered: ${JSON.stringify(answer?.json)}`);
    await delay(200);
  }
}

describe.skipIf(!inject('hasRedisBinary'))('in a Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
    await startService(cluster.url);
  });
  afterAll(async () => {
    await stopService();
    await cluster[Symbol.asyncDispose]();
  });

  const movedFrom = (old: ClusterNode) =>
    vi.waitFor(
      async () => {
        if ((await cluster.ownerOf(PREFIX, old)) === old) throw new Error('it has not moved');
        return Date.now();
      },
      { timeout: 300_000, interval: 20 },
    );

  it('the slot moves to another master', async () => {
    const from = await cluster.ownerOf(PREFIX);
    const to = (await cluster.masters()).find((node) => node !== from);
    if (!to) throw new Error('there is one master only');
    await goesThrough({
      failOver: 'Cluster: the slot moved to another master, with all its keys',
      promise: `${ANSWERED}; calls may be refused meanwhile`,
      happens: async () => {
        await cluster.moveSlot(PREFIX, to);
        return Date.now();
      },
    });
    expect(await cluster.ownerOf(PREFIX)).toBe(to);
    await cluster.moveSlot(PREFIX, from);
  });

  it('SIGKILL of the master', async () => {
    const old = await cluster.ownerOf(PREFIX);
    await goesThrough({
      failOver: 'Cluster: SIGKILL of the master',
      happens: async () => {
        await old.kill();
        return movedFrom(old);
      },
    });
    await old.start();
    await vi.waitFor(
      async () => expect(String(await cluster.command(old, 'INFO'))).toContain('master_link_status:up'),
      300_000,
    );
  });

  it.skipIf(process.getuid?.() !== 0)('the master cut off from the other nodes, while clients reach it', async () => {
    const old = await cluster.ownerOf(PREFIX);
    await goesThrough({
      failOver: 'Cluster: the master cut off from all other nodes, not from the service, until it was replaced',
      happens: async () => {
        await cutOff(old, '-I');
        try {
          const movedAt = await movedFrom(old);
          await delay(1000);
          return movedAt;
        } finally {
          await cutOff(old, '-D');
        }
      },
    });
  });
});

/** Clients come from 127.0.0.1, the nodes from their own addresses. */
async function cutOff(node: ClusterNode, action: '-I' | '-D'): Promise<void> {
  const host = hostOf(node);
  const run = promisify(execFile);
  await run('iptables', [action, 'INPUT', '-s', host, '!', '-d', '127.0.0.1', '-j', 'DROP']);
  await run('iptables', [action, 'INPUT', '-d', host, '!', '-s', '127.0.0.1', '-j', 'DROP']);
}

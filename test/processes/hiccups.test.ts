import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { callWhile, type Disturbed, endingsOf, isTrue, type Told } from '../support/disturbed-calls.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import type { RedisProcess, RedisProcessOptions } from '../support/redis-process.ts';

/** From then on a silent Redis may count as away. */
const SILENT_MS = 1000;
/** The last byte before a freeze is this much older than the freeze at most: an API looks four times a second. */
const LAST_BYTE_MS = 250;
/** A caller notices more than this. A whole run has three other files of processes on the same cores, so there it is longer. */
const BACK_WITHIN_MS = process.env.CI ? 10_000 : 2000;
/** A Redis that says no is heard within this time. */
const HEARD_WITHIN_MS = 500;
const REFUSED_WITHIN_MS = 1000;

const REFUSED = '503 queue-unavailable, mayHaveRun false';

describe.skipIf(!inject('hasRedisBinary'))('a Redis that takes a breath', () => {
  it('is frozen for 0.5 s: no call is refused, and none ends uncertainly', async () => {
    const seen = await callWhile(async ({ redis }) => void (await frozen(redis, 500)));
    isTrue(seen);
    expect(endingsOf(seen.told)).toEqual({});
  });

  it.each([1, 3, 10])(
    'is frozen for %i s: only calls that come after 1 s of silence are refused, and the first one is served soon after its end',
    async (seconds) => {
      let span = { from: 0, to: 0, firstByteAt: 0 };
      const seen = await callWhile(async ({ redis, command }) => {
        span = await frozen(redis, 1000 * seconds, () => command('PING'));
      });
      console.log(`frozen for ${seconds} s: ${backAfter(seen.told, span)}`);
      isTrue(seen);
      const mayBeRefusedFrom = span.from + SILENT_MS - LAST_BYTE_MS;
      const early = seen.told.filter(({ at }) => at < mayBeRefusedFrom || at > span.to + BACK_WITHIN_MS);
      expect(endingsOf(early)).toEqual({});
      expect(Object.keys(endingsOf(seen.told)).filter((ending) => ending !== REFUSED)).toEqual([]);
      expect(firstTaken(seen.told, span.to) - span.to).toBeLessThanOrEqual(BACK_WITHIN_MS);
    },
  );

  it.each(['BGREWRITEAOF', 'BGSAVE'])('does %s again and again: no call is refused', async (save) => {
    const seen = await callWhile(
      async ({ command }) => {
        for (let time = 0; time < 10; time++) {
          await command(save);
          await eventually(async () => expect(String(await command('INFO', 'persistence'))).not.toMatch(/_progress:1/));
        }
      },
      { appendOnly: true, more: ['--auto-aof-rewrite-min-size', '1mb'] },
    );
    isTrue(seen);
    expect(endingsOf(seen.told)).toEqual({});
  });

  it('is busy for 0.7 s, four times: no call is refused', async () => {
    const seen = await callWhile(
      async ({ command, moreCalls }) => {
        for (let time = 0; time < 4; time++) {
          await command('DEBUG', 'SLEEP', '0.7');
          await moreCalls(100);
        }
      },
      { more: ['--enable-debug-command', 'yes'] },
    );
    isTrue(seen);
    expect(endingsOf(seen.told)).toEqual({});
  });

  it('is 50 ms away, with jitter: no call is refused', async () => {
    // A worker takes one job in each round trip: 20 a second at the most.
    const latency = { roundTripMs: 50, jitterMs: 15 };
    const seen = await callWhile(({ moreCalls }) => moreCalls(50), { latency, perSecond: 8 });
    isTrue(seen);
    expect(endingsOf(seen.told)).toEqual({});
  });
});

describe.skipIf(!inject('hasRedisBinary'))('a process that takes a breath', () => {
  it('is the API, for 1 s: no call is refused, and none ends uncertainly', async () => {
    const seen = await callWhile(({ processes: { api } }) => asleep(api, 1000));
    isTrue(seen);
    expect(endingsOf(seen.told)).toEqual({});
  });

  it('is the worker, for 3 s: no call is refused, and none ends uncertainly', async () => {
    const seen = await callWhile(async ({ processes: { workers } }) => {
      for (const worker of workers) await asleep(worker, 3000);
    });
    isTrue(seen);
    expect(endingsOf(seen.told)).toEqual({});
  });
});

type Refusing = RedisProcessOptions & {
  how: string;
  begins(disturbed: Disturbed): Promise<unknown>;
  ends(disturbed: Disturbed): Promise<unknown>;
};

const refusing: Refusing[] = [
  { how: 'was stopped', appendOnly: true, begins: ({ redis }) => redis.kill(), ends: ({ redis }) => redis.start() },
  {
    how: 'loads its data (LOADING)',
    more: [
      '--enable-debug-command',
      'yes',
      '--key-load-delay',
      '1000',
      '--loading-process-events-interval-bytes',
      '1024',
    ],
    async begins({ redis, command }) {
      await command('DEBUG', 'POPULATE', '5000');
      await command('SAVE');
      await redis.kill();
      void redis.start();
      await eventually(async () => expect(await saidBy(redis.url, 'SET', 'x', 'x')).toMatch(/^LOADING/));
    },
    ends: ({ redis }) => eventually(async () => expect(await saidBy(redis.url, 'PING')).toBe('PONG'), 60_000),
  },
  {
    how: 'became a replica (READONLY)',
    begins: async ({ command }) => command('REPLICAOF', '127.0.0.1', String(await freePort())),
    ends: ({ command }) => command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    how: 'lost its master (MASTERDOWN)',
    more: ['--replica-serve-stale-data', 'no'],
    begins: async ({ command }) => command('REPLICAOF', '127.0.0.1', String(await freePort())),
    ends: ({ command }) => command('REPLICAOF', 'NO', 'ONE'),
  },
  {
    how: 'has no memory left (OOM)',
    begins: ({ redis }) => redis.setMaxMemory(1),
    ends: ({ redis }) => redis.setMaxMemory(0),
  },
  {
    how: 'cannot save (MISCONF)',
    more: ['--save', '3600 1'],
    async begins({ command, redis }) {
      await mkdir(await dumpOf(command));
      await command('BGSAVE');
      await eventually(async () => expect(await saidBy(redis.url, 'SET', 'x', 'x')).toMatch(/^MISCONF/));
    },
    async ends({ command, redis }) {
      await rmdir(await dumpOf(command));
      await command('BGSAVE');
      await eventually(async () => expect(await saidBy(redis.url, 'SET', 'x', 'x')).toBe('OK'));
    },
  },
];

describe.skipIf(!inject('hasRedisBinary'))('a Redis that says no', () => {
  it.each(refusing)('because it $how: calls are refused at once, and none of them runs', async (how) => {
    const span = { from: 0, to: 0 };
    const seen = await callWhile(async (disturbed) => {
      await how.begins(disturbed);
      span.from = Date.now();
      await disturbed.moreCalls(150);
      span.to = Date.now();
      await how.ends(disturbed);
    }, how);
    isTrue(seen);
    const heard = seen.told.filter(({ at }) => at >= span.from + HEARD_WITHIN_MS && at <= span.to);
    expect(endingsOf(heard)).toEqual({ [REFUSED]: heard.length });
    const slow = heard.filter(({ at, endedAt }) => endedAt - at > REFUSED_WITHIN_MS);
    expect(slow).toEqual([]);
    expect(Object.keys(endingsOf(seen.told)).filter((ending) => ending !== REFUSED)).toEqual([]);
  });
});

/** Freezes Redis. Resolves to when it began and ended, and when the first reply came after that; `ask` sends what is replied to. */
async function frozen(redis: RedisProcess, ms: number, ask: () => Promise<unknown> = async () => {}) {
  await redis.pause();
  const from = Date.now();
  const replied = ask().then(() => Date.now());
  await delay(ms); // the fault itself: how long it lasts is what is tried
  await redis.resume();
  const to = Date.now();
  return { from, to, firstByteAt: await replied };
}

async function asleep(process: { freeze(): void; wake(): void }, ms: number): Promise<void> {
  process.freeze();
  await delay(ms);
  process.wake();
}

/** When the first answer of a client came after `since`, whenever its call was made; Infinity if there is none. */
function firstAnswered(told: Told[], since: number): number {
  return Math.min(
    ...told.filter(({ endedAt, status }) => endedAt >= since && status === 200).map(({ endedAt }) => endedAt),
  );
}

/** When the first call ended that came after `since` and was answered by the client; Infinity if there is none. */
function firstTaken(told: Told[], since: number): number {
  return Math.min(...told.filter(({ at, status }) => at >= since && status === 200).map(({ endedAt }) => endedAt));
}

function backAfter(told: Told[], { from, to, firstByteAt }: { from: number; to: number; firstByteAt: number }): string {
  const refusals = told.filter(({ status }) => status !== 200);
  const [first, last] = [Math.min(...refusals.map(({ at }) => at)), Math.max(...refusals.map(({ at }) => at))];
  return [
    `the first answer came ${firstAnswered(told, firstByteAt) - firstByteAt} ms after the first byte (goal 250)`,
    `a call that was made after it, behind those that had waited, was answered ${firstTaken(told, firstByteAt) - firstByteAt} ms after it`,
    `first byte ${firstByteAt - to} ms after SIGCONT`,
    refusals.length === 0
      ? 'none refused'
      : `calls that failed came ${first - from} to ${last - from} ms after SIGSTOP`,
    JSON.stringify(endingsOf(told)),
  ].join('; ');
}

/** What Redis says to one command, also if it is an error or nothing can be reached. */
async function saidBy(url: string, name: string, ...parameters: string[]): Promise<string> {
  const redis = new Redis(url, { enableReadyCheck: false, maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    return String(await redis.call(name, ...parameters));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    redis.disconnect();
  }
}

/** Where Redis puts what it saves. A directory in that place lets every save fail. */
async function dumpOf(command: Disturbed['command']): Promise<string> {
  return join(String([await command('CONFIG', 'GET', 'dir')].flat().at(1)), 'dump.rdb');
}

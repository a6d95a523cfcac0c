import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import type { Dice } from '../simulator/search/dice.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { createResponder, resultText } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { callSteadily, twice } from '../support/steady-calls.ts';
import { sweepLater } from '../support/sweep-later.ts';
import { isFull, record } from './measured.ts';
import { openStory, type Story } from './story.ts';
import { brokenIn, longestTakeover, verdictOf } from './verdict.ts';

const RATE = { perSecond: isFull ? 100 : 50, openAtMost: 300 };
const [BEFORE_MS, AFTER_MS] = isFull ? [4000, 7000] : [1500, 2500];
const CLIENT_MS = 800;
const settings = { CLIENT_TIMEOUT_MS: 60_000, MAX_WAITS_PER_CLIENT: 5000 };

type Setup = { processes: Processes; redis: RedisProcess; dice: Dice };
type Experiment = {
  fault: string;
  promise: string;
  /** Resolves when the fault is over; for a worker that is gone, at once. */
  happens(setup: Setup): Promise<unknown>;
  /** Whether open calls wait for its end. `on-and-off`: it begins and ends again and again, and any call may be hit. */
  lasts?: boolean | 'on-and-off';
};

const ANSWERED = 'every caller gets the client’s answer';

const experiments: Experiment[] = [
  {
    fault: 'SIGKILL of one of three workers',
    promise: `${ANSWERED}, within 10 s`,
    happens: ({ processes, dice }) => workerOf(processes, dice).kill(),
  },
  {
    fault: `One of three workers frozen for ${isFull ? 20 : 8} s`,
    promise: `${ANSWERED}, within 10 s`,
    async happens({ processes, dice }) {
      const worker = workerOf(processes, dice);
      worker.freeze();
      void delay(isFull ? 20_000 : 8000).then(() => worker.wake());
    },
  },
  {
    fault: 'SIGTERM of one of three workers',
    promise: 'its open waits are elsewhere within 1 s',
    happens: ({ processes, dice }) => workerOf(processes, dice).terminate(),
  },
  {
    fault: 'Rolling restart of all workers',
    promise: 'no call fails',
    async happens({ processes }) {
      for (const old of [...processes.workers]) {
        await processes.addWorker();
        await old.terminate();
      }
    },
  },
  {
    fault: 'SIGKILL of one of two APIs',
    promise: 'its executions finish; callers of the other one notice nothing',
    happens: async ({ processes }) => processes.apis[1]?.kill(),
  },
  {
    fault: 'One of two APIs frozen for 5 s',
    promise: `${ANSWERED} when it wakes; a call that was just being sent may get 503`,
    lasts: true,
    async happens({ processes }) {
      processes.apis[1]?.freeze();
      await delay(5000);
      processes.apis[1]?.wake();
    },
  },
  {
    fault: 'Redis killed, back after 2 s with its append-only file',
    promise: `${ANSWERED}; new calls get 503 once it has been away for 1 s`,
    lasts: true,
    async happens({ redis }) {
      await redis.kill();
      await delay(2000);
      await redis.start();
    },
  },
  {
    fault: 'Redis killed, back after 2 s without its data',
    promise: `${ANSWERED}; new calls get 503 once it has been away for 1 s`,
    lasts: true,
    async happens({ redis }) {
      await redis.kill();
      await delay(2000);
      await redis.start({ loseData: true });
    },
  },
  {
    fault: 'FLUSHALL',
    promise: ANSWERED,
    happens: ({ redis }) => redisCommand(redis.url, 'FLUSHALL'),
  },
  ...[1, 3, 10].map((seconds) => ({
    fault: `Redis frozen for ${seconds} s`,
    promise: `${ANSWERED}; new calls get 503 once it has been away for 1 s`,
    lasts: true,
    async happens({ redis }: Setup) {
      await redis.pause();
      await delay(seconds * 1000);
      await redis.resume();
    },
  })),
  {
    fault: 'All Redis connections cut (CLIENT KILL)',
    promise: `${ANSWERED}; a call that is just being sent may get 503`,
    happens: ({ redis }) => redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  },
  {
    fault: 'Redis takes no connections for 5 s (maxclients), and has cut those there were',
    promise: `${ANSWERED}; new calls get 503 once it has been away for 1 s`,
    lasts: true,
    async happens({ redis: { url } }) {
      const own = new Redis(url); // the one connection that there is room for
      try {
        await own.config('SET', 'maxclients', 1);
        for (const type of ['normal', 'pubsub']) await own.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
        await delay(5000);
        await own.config('SET', 'maxclients', 10_000);
      } finally {
        own.disconnect();
      }
    },
  },
  {
    fault: 'Redis out of memory for 7 s (noeviction)',
    promise: `${ANSWERED}; new calls get 503 within 1 s`,
    lasts: true,
    async happens({ redis }) {
      await redis.setMaxMemory(1);
      await delay(7000);
      await redis.setMaxMemory(0);
    },
  },
  ...(isFull
    ? [
        {
          fault: 'All of these at random, one every 6 s for 90 s',
          promise: ANSWERED,
          lasts: 'on-and-off' as const,
          happens: anyOfThese,
        },
      ]
    : []),
];

describe.skipIf(!inject('hasRedisBinary'))(`under ${RATE.perSecond} calls a second`, () => {
  it.each(experiments)('$fault: $promise', async ({ fault, promise, happens, lasts = false }) => {
    const redis = await startRedisProcess({ appendOnly: true });
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: 2, workers: 3 });
      const { sharedDir } = processes;
      const story = openStory(fault);
      await using responder = await createResponder({ sharedDir, app: 1, does: answersSometime(story) });

      const calls = callSteadily(RATE, (number) => story.call(number, () => execute(processes, number)));
      await delay(BEFORE_MS);
      story.fault(fault, 'begins');
      await happens({ processes, redis, dice: story.dice });
      story.fault(fault, 'ends');
      await delay(AFTER_MS);
      await calls.stop();

      const over = lasts === 'on-and-off' ? 'on-and-off' : lasts ? 'at-its-end' : 'at-its-begin';
      const entries = story.entries();
      const verdict = verdictOf(entries);
      record({
        fault,
        promise,
        test: 'under-load.chaos.ts',
        calls: verdict.calls,
        refused: verdict.refused,
        refusedMs: verdict.refusedMs,
        takeoverMs: longestTakeover(entries, over),
        lost: verdict.lost.length,
        twice: verdict.foundTwice.length,
      });

      expect(brokenIn(verdict)).toEqual([]);
      expect(twice(responder.found)).toEqual([]);
      expect(processes.noise()).toEqual([]);
      expect((await execute(processes, 0)).status).toBe(200);
      expect(verdict.answered).toBeGreaterThan(0);
      await sweepLater(sharedDir);
      expect(await processes.leftovers()).toEqual([]);
      expect(await privateLeftovers(sharedDir)).toEqual([]);
    } finally {
      await redis.stop();
    }
  });
});

/** A client that takes its time, and writes down what it found and when it answered. */
function answersSometime(story: Story): Parameters<typeof createResponder>[0]['does'] {
  return async (request) => {
    const data = JSON.parse(request.text)['the service'];
    story.found(request.mockId, data.number);
    const pickedUp = await request.pickUp().then(() => true, unless('ENOENT'));
    if (!pickedUp) return;
    story.ran(data.number);
    await delay(story.dice.whole(0, CLIENT_MS));
    await request.answer(resultText(request, { 'the service': data }));
    story.wrote(data.number);
  };
}

/** Calls go to the APIs in turn; those of one that was killed go to the others. */
function execute({ apis }: Processes, number: number) {
  const running = apis.filter(({ isRunning }) => isRunning);
  const api = running[number % running.length];
  if (!api) throw new Error('there is no API');
  return api.execute({ app: 1, ruleId: 1, 'the service': { number } });
}

function workerOf({ workers }: Processes, dice: Dice) {
  const running = workers.filter(({ isRunning }) => isRunning);
  const worker = dice.pickAny(running);
  if (!worker) throw new Error('no worker runs');
  return worker;
}

async function anyOfThese({ processes, redis, dice }: Setup): Promise<void> {
  const faults = [
    () => workerOf(processes, dice).kill(),
    () => workerOf(processes, dice).terminate(),
    async () => {
      const worker = workerOf(processes, dice);
      worker.freeze();
      await delay(dice.whole(1000, 6000));
      worker.wake();
    },
    () => redis.restart(),
    () => redisCommand(redis.url, 'FLUSHALL'),
    () => redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
    async () => {
      await redis.pause();
      await delay(dice.whole(500, 4000));
      await redis.resume();
    },
  ];
  const endsAt = Date.now() + 90_000;
  while (Date.now() < endsAt) {
    const next = delay(6000);
    await dice.pickAny(faults)?.();
    while (processes.workers.filter(({ isRunning }) => isRunning).length < 3)
      await processes.addWorker({ untilReady: false });
    await next;
  }
}

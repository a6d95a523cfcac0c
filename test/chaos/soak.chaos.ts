import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, inject, it, vi } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { httpCall } from '../support/http-call.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { type Behaviour, createResponder, resultText } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { callSteadily } from '../support/steady-calls.ts';
import { sweepLater } from '../support/sweep-later.ts';
import { record } from './measured.ts';
import { openStory, type Story } from './story.ts';
import { brokenIn, verdictOf } from './verdict.ts';

/** `SOAK=20 npm run test:chaos -- soak`: minutes with all faults in turn. */
const MINUTES = Number(process.env.SOAK);
const PER_SECOND = Number(process.env.SOAK_RATE ?? 20);
const [APIS, WORKERS] = [2, 3];
const FAULT_EVERY_MS = 8000;
const CLIENT_MS = 800;
/** Every so many calls one has an Idempotency-Key, and is sent again until it has its answer. */
const KEYED = 5;
const REPEAT_MS = 1000;
const settings = { CLIENT_TIMEOUT_MS: 60_000, MAX_WAITS_PER_CLIENT: 5000 };

type Setup = { processes: Processes; redis: RedisProcess; story: Story };

const running = <T extends { isRunning: boolean }>(all: T[]) => all.filter(({ isRunning }) => isRunning);

async function freeze(process: { freeze(): void; wake(): void } | undefined, ms: number): Promise<void> {
  process?.freeze();
  await delay(ms);
  process?.wake();
}

/** `forgets`: Redis may lose what it was told, and with it which calls were made under which key. */
const faults: { what: string; forgets?: boolean; happens(setup: Setup): Promise<unknown> }[] = [
  {
    what: 'a worker is killed',
    happens: async ({ processes, story }) => story.dice.pickAny(running(processes.workers))?.kill(),
  },
  {
    what: 'a worker freezes',
    happens: ({ processes, story }) => freeze(story.dice.pickAny(running(processes.workers)), 7000),
  },
  {
    what: 'a worker stops',
    happens: async ({ processes, story }) => story.dice.pickAny(running(processes.workers))?.terminate(),
  },
  {
    what: 'an API is killed',
    happens: async ({ processes, story }) => story.dice.pickAny(running(processes.apis))?.kill(),
  },
  {
    what: 'an API freezes',
    happens: ({ processes, story }) => freeze(story.dice.pickAny(running(processes.apis)), 4000),
  },
  { what: 'Redis restarts', forgets: true, happens: ({ redis }) => redis.restart() },
  {
    what: 'Redis restarts without its data',
    forgets: true,
    async happens({ redis }) {
      await redis.kill();
      await redis.start({ loseData: true });
    },
  },
  { what: 'FLUSHALL', forgets: true, happens: ({ redis }) => redisCommand(redis.url, 'FLUSHALL') },
  {
    what: 'Redis freezes',
    async happens({ redis }) {
      await redis.pause();
      await delay(3000);
      await redis.resume();
    },
  },
  {
    what: 'all connections to Redis are cut',
    happens: ({ redis }) => redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  },
  {
    what: 'Redis is full',
    async happens({ redis }) {
      await redis.setMaxMemory(1);
      await delay(3000);
      await redis.setMaxMemory(0);
    },
  },
  {
    what: 'Redis is a replica',
    async happens({ redis }) {
      await redisCommand(redis.url, 'REPLICAOF', '127.0.0.1', '1');
      await delay(3000);
      await redisCommand(redis.url, 'REPLICAOF', 'NO', 'ONE');
    },
  },
  {
    what: 'the shared directory is away',
    async happens({ processes: { sharedDir } }) {
      await rename(sharedDir, `${sharedDir}.away`);
      await delay(2000);
      await rename(`${sharedDir}.away`, sharedDir);
    },
  },
];

describe.skipIf(!inject('hasRedisBinary'))('a soak', () => {
  it(
    `of ${MINUTES} minutes with all faults in turn: nothing is lost, dispatched twice, or left`,
    async () => {
      const redis = await startRedisProcess({ appendOnly: true });
      try {
        await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: APIS, workers: WORKERS });
        const { sharedDir } = processes;
        const story = openStory(`all faults in turn for ${MINUTES} min`);
        await using _client = await createResponder({ sharedDir, app: 1, does: answersSometime(story) });
        let forgotAt = 0;
        const calls = callSteadily({ perSecond: PER_SECOND, openAtMost: 300 }, (number) => {
          const since = Date.now();
          const forgot = () => forgotAt > since;
          if (number % KEYED !== 0) return story.call(number, () => execute(processes, number));
          return story.call(number, () => untilAnswered(processes, number, forgot), forgot);
        });
        const happened = await letThemHappen({ processes, redis, story }, () => {
          forgotAt = Date.now();
        });
        await delay(10_000);
        await calls.stop();

        const verdict = verdictOf(story.entries());
        const { seed, calls: called, answered, refused, cutOff } = verdict;
        console.log({
          minutes: MINUTES,
          perSecond: PER_SECOND,
          seed,
          faults: happened,
          called,
          answered,
          refused,
          cutOff,
        });
        record({
          ...{
            fault: `All faults in turn for ${MINUTES} min, ${happened} in all`,
            promise: 'nothing is lost, twice or left',
          },
          ...{ test: 'soak.chaos.ts', calls: called, refused },
          ...{ refusedMs: 0, takeoverMs: 0, lost: verdict.lost.length, twice: verdict.foundTwice.length },
        });
        expect(brokenIn(verdict)).toEqual([]);
        expect(processes.noise()).toEqual([]);
        await vi.waitFor(async () => expect(await leftInQueue(processes)).toEqual({ waiting: 0, active: 0 }), 90_000);
        await sweepLater(sharedDir);
        expect(await processes.leftovers()).toEqual([]);
        expect(await privateLeftovers(sharedDir)).toEqual([]);
      } finally {
        await redis.stop();
      }
    },
    (MINUTES + 5) * 60_000,
  );
});

/** One fault after the other until the time is over; what was killed is replaced. Resolves to how many there were. */
async function letThemHappen(setup: Setup, forgets: () => void): Promise<number> {
  const { processes } = setup;
  const endsAt = Date.now() + MINUTES * 60_000;
  for (let turn = 0; ; turn++) {
    const fault = faults[turn % faults.length];
    const next = delay(FAULT_EVERY_MS);
    if (fault?.forgets) forgets();
    setup.story.fault(fault?.what ?? '', 'begins', { forgets: fault?.forgets === true });
    await fault?.happens(setup);
    setup.story.fault(fault?.what ?? '', 'ends', { forgets: fault?.forgets === true });
    if (fault?.forgets) forgets();
    // On a machine with nothing to spare a start may take longer than it is waited for; the next turn makes up for it.
    if (running(processes.workers).length < WORKERS) await processes.addWorker({ untilReady: false }).catch(() => {});
    if (running(processes.apis).length < APIS) await processes.addApi({ untilReady: false }).catch(() => {});
    await next;
    if (Date.now() >= endsAt) return turn + 1;
  }
}

/** A client that takes its time, and writes down each request that it took, each call that it ran, and each answer. */
function answersSometime(story: Story): Behaviour {
  return async (request) => {
    const pickedUp = await request.pickUp().then(() => true, unless('ENOENT'));
    if (!pickedUp) return; // one that goes away with its directory is found again when it is back
    const data = JSON.parse(request.text)['the service'];
    story.found(request.mockId, data.number);
    story.ran(data.number);
    await delay(story.dice.whole(0, CLIENT_MS));
    await answerWhenThere(() => request.answer(resultText(request, { 'the service': data })));
    story.wrote(data.number);
  };
}

/** A client whose directory is away writes its answer once it is back. */
async function answerWhenThere(answer: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const written = await answer().then(
      () => true,
      (error) => unless('ENOENT')(error) ?? false,
    );
    if (written) return;
    await delay(100);
  }
}

/** Sends a call under one key again until it has its answer, as the contract says; not once Redis forgot the key. */
async function untilAnswered(processes: Processes, number: number, forgot: () => boolean): Promise<Answer> {
  for (;;) {
    const answer = await execute(processes, number, { 'idempotency-key': `soak-${number}` }).catch(() => undefined);
    if (forgot()) return answer ?? Promise.reject(new Error('cut off'));
    if (answer && (isAnswered(number, answer) || answer.status !== 503)) return answer;
    await delay(REPEAT_MS);
  }
}

function isAnswered(number: number, { status, json }: { status: number; json: Answer['json'] }): boolean {
  return status === 200 && json['the service']?.number === number;
}

async function execute({ apis }: Processes, number: number, headers: Record<string, string> = {}): Promise<Answer> {
  const api = await eventually(() => {
    const all = running(apis);
    return all[number % all.length] ?? Promise.reject(new Error('there is no API'));
  }, 60_000);
  return api.execute({ app: 1, ruleId: 1, 'the service': { number } }, { headers });
}

async function leftInQueue(processes: Processes) {
  const { waiting, active } = (await httpCall(`${running(processes.apis)[0]?.url}/readyz`)).json;
  return { waiting, active };
}

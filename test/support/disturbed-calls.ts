import { Redis } from 'ioredis';
import { expect } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { openQueueBackend } from '../../src/shared/store/queue/open-queue-backend.ts';
import { queueNames } from '../../src/shared/store/queue/queue-names.ts';
import { eventually } from './eventually.ts';
import { type RedisProcess, type RedisProcessOptions, startRedisProcess } from './redis-process.ts';
import { createResponder, resultText } from './responder.ts';
import { startSlowPipe } from './slow-pipe.ts';
import { type Processes, startProcesses } from './start-processes.ts';
import { callSteadily } from './steady-calls.ts';

/** In a whole run three other files of processes share the cores. Below capacity no call may be refused for load. */
const PER_SECOND = process.env.CI ? 50 : 100;
/** Calls that wait while Redis is frozen stay open. */
const OPEN_AT_MOST = 4000;
const WARM_SECONDS = 1.5;
const settings = { CLIENT_TIMEOUT_MS: 60_000, QUEUE_TIMEOUT_MS: 30_000 };

/** How one call ended. `at` and `endedAt`: epoch ms. */
export type Told = {
  number: number;
  at: number;
  endedAt: number;
  status: number;
  code: string | undefined;
  mayHaveRun: boolean | undefined;
};

export type Disturbed = {
  redis: RedisProcess;
  processes: Processes;
  /** Sends one command to Redis on a connection that was open before. */
  command(name: string, ...parameters: string[]): Promise<unknown>;
  /** Resolves when so many more calls were made. */
  moreCalls(count: number): Promise<void>;
};

type Options = RedisProcessOptions & { latency?: { roundTripMs: number; jitterMs: number }; perSecond?: number };

/**
 * Calls an API at a steady rate, disturbs it, and waits until calls are answered again and nothing is left on the queue. Resolves to how
 * each call ended, and to the numbers of those that ran.
 */
export async function callWhile(disturb: (disturbed: Disturbed) => Promise<unknown>, options: Options = {}) {
  const { perSecond = PER_SECOND } = options;
  await using stack = new AsyncDisposableStack();
  const redis = await startRedisProcess(options);
  stack.defer(() => redis.stop());
  const pipe = options.latency && stack.use(await startSlowPipe(redis.url, options.latency));
  const processes = stack.use(await startProcesses({ queueUrl: pipe?.url ?? redis.url, settings }));
  const connection = new Redis(redis.url, { enableReadyCheck: false });
  connection.on('error', () => {}); // Redis may be stopped meanwhile
  stack.defer(() => connection.disconnect());
  const ran: number[] = [];
  stack.use(await createPlayed(processes.sharedDir, ran));

  const { api } = processes;
  const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });
  const isServed = async () => expect((await api.execute(bodyOf(-1))).status).toBe(200);
  await eventually(isServed);
  const calls = callSteadily({ perSecond, openAtMost: OPEN_AT_MOST }, (number) => api.execute(bodyOf(number)));
  const moreCalls = (count: number) => {
    const until = calls.count + count;
    return eventually(() => expect(calls.count).toBeGreaterThanOrEqual(until));
  };
  await moreCalls(perSecond * WARM_SECONDS);
  await disturb({ redis, processes, command: (name, ...more) => connection.call(name, ...more), moreCalls });
  await moreCalls(perSecond);
  const called = await calls.stop();
  await eventually(isServed);
  await isEmpty(redis.url);
  const told = called.map(({ number, at, ms, answer: { status, json } }): Told => {
    return { number, at, endedAt: at + ms, status, code: json?.code ?? json?.error, mayHaveRun: json?.mayHaveRun };
  });
  return { told, ran: ran.filter((number) => number >= 0), noise: processes.noise() };
}

/** A client that answers each request with its input, and remembers the numbers of those it ran. */
function createPlayed(sharedDir: string, ran: number[]) {
  return createResponder({
    sharedDir,
    app: 1,
    async does(request) {
      const picked = await request.pickUp().then(() => true, unless('ENOENT'));
      if (!picked) return;
      const input = JSON.parse(request.text)['the service'];
      ran.push(input.number);
      await request.answer(resultText(request, { 'the service': input }));
    },
  });
}

async function isEmpty(url: string): Promise<void> {
  const backend = await openQueueBackend(url);
  try {
    await backend.connected;
    const queue = backend.openQueue(queueNames.executions);
    const empty = { wait: 0, active: 0, delayed: 0 };
    await eventually(async () => expect(await queue.getJobCounts('wait', 'active', 'delayed')).toEqual(empty), 60_000);
    await queue.close();
  } finally {
    await backend.close();
  }
}

/** Nothing ran twice, and who was told that it did not run was told the truth. */
export function isTrue({ told, ran, noise }: Awaited<ReturnType<typeof callWhile>>): void {
  const unrun = new Set(told.filter(({ mayHaveRun }) => mayHaveRun === false).map(({ number }) => number));
  const counted = new Set<number>();
  const twice = ran.filter((number) => counted.size === counted.add(number).size);
  const unseen = told.filter(({ number, status }) => status === 200 && !counted.has(number));
  expect({ twice, ranAllTheSame: ran.filter((number) => unrun.has(number)), unseen, noise }).toEqual({
    twice: [],
    ranAllTheSame: [],
    unseen: [],
    noise: [],
  });
}

/** Those that were not answered by the client, counted by what they were told. */
export function endingsOf(told: Told[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code, mayHaveRun } of told) {
    if (status === 200) continue;
    const ending = `${status} ${code}, mayHaveRun ${mayHaveRun}`;
    counts[ending] = (counts[ending] ?? 0) + 1;
  }
  return counts;
}

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { steps } from '../../src/worker/execution/steps.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { type StepFaultSeen, watchStepFault } from '../support/step-fault.ts';
import { isFull, record } from './measured.ts';
import { openStory, type Story } from './story.ts';
import { brokenIn, verdictOf } from './verdict.ts';

const choice = inject('redis');
const ROUNDS = isFull ? 3 : 1;
/** The settings of production. */
const settings = {
  POLL_INTERVAL_MS: 1000,
  CLIENT_TIMEOUT_MS: 30_000,
  QUEUE_TIMEOUT_MS: 10_000,
  RESULT_TIMEOUT_MS: 60_000,
};

describe.skipIf(choice.kind === 'unavailable')('a worker, at each step of an execution', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('is killed', () => measure('SIGKILL', 'SIGKILL of a worker'));
  it('falls asleep for 20 s', () => measure('SIGSTOP', 'A worker frozen for 20 s (SIGSTOP, SIGCONT)'));

  async function measure(signal: 'SIGKILL' | 'SIGSTOP', fault: string): Promise<void> {
    const story = openStory(fault);
    story.fault(fault, 'begins');
    const seen: StepFaultSeen[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const first = round * steps.length;
      seen.push(...(await Promise.all(steps.map((step, at) => atStep(step, signal, { story, number: first + at })))));
    }
    story.fault(fault, 'ends');
    const verdict = verdictOf(story.entries());
    const takeoverMs = Math.max(...seen.map((each) => each.takeoverMs));
    const at = `${fault}, at each of ${steps.length} steps of an execution, from before its first file to after its last`;
    record({
      fault: at,
      promise: 'another worker goes on within 10 s',
      test: 'steps.chaos.ts',
      calls: verdict.calls,
      refused: verdict.refused,
      refusedMs: verdict.refusedMs,
      takeoverMs,
      lost: verdict.lost.length,
      twice: verdict.foundTwice.length,
    });
    expect(brokenIn(verdict)).toEqual([]);
    expect(verdict.answered).toBe(seen.length);
    expect(seen.map(({ answer }) => answer.data)).toEqual(seen.map(({ call }) => call));
    expect(seen.flatMap(({ leftovers, noise }) => [...leftovers, ...noise])).toEqual([]);
  }

  async function atStep(
    step: (typeof steps)[number],
    signal: 'SIGKILL' | 'SIGSTOP',
    { story, number }: { story: Story; number: number },
  ): Promise<StepFaultSeen> {
    const database = await claimRedisDatabase(redis.url);
    try {
      return await watchStepFault({ step, signal }, database.url, settings, { number, ...story });
    } finally {
      await database.stop();
    }
  }
});

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { steps } from '../../src/worker/execution/steps.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { type StepFaultSeen, watchStepFault } from '../support/step-fault.ts';
import { isFull, record } from './measured.ts';

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
    const seen: StepFaultSeen[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      seen.push(...(await Promise.all(steps.map((step) => atStep(step, signal)))));
    }
    const lost = seen.filter(({ call, answer }) => answer.status !== 200 || !isSame(answer.data, call)).length;
    const twice = seen.filter(({ dispatches }) => dispatches > 1).length;
    const takeoverMs = Math.max(...seen.map((each) => each.takeoverMs));
    const at = `${fault}, at each of ${steps.length} steps of an execution, from before its first file to after its last`;
    record({
      fault: at,
      promise: 'another worker goes on within 10 s',
      test: 'steps.chaos.ts',
      calls: seen.length,
      refused: 0,
      refusedMs: 0,
      takeoverMs,
      lost,
      twice,
    });
    expect({ lost, twice }).toEqual({ lost: 0, twice: 0 });
    expect(seen.flatMap(({ leftovers, noise }) => [...leftovers, ...noise])).toEqual([]);
  }

  async function atStep(step: (typeof steps)[number], signal: 'SIGKILL' | 'SIGSTOP'): Promise<StepFaultSeen> {
    const database = await claimRedisDatabase(redis.url);
    try {
      return await watchStepFault({ step, signal }, database.url, settings);
    } finally {
      await database.stop();
    }
  }
});

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

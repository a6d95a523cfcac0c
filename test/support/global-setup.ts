import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { chooseRedis, hasRedisBinary } from './choose-redis.ts';
import type { RedisChoice } from './redis-server.ts';
import { type SharedRedis, startSharedRedis } from './shared-redis.ts';
import { checkOutput, keepOutput } from './written-output.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's Redis; `describe.skipIf(inject('redis').kind === 'unavailable')`, then `startRedis(inject('redis'))`. */
    redis: RedisChoice;
    /** The Redis that services share which ask for none. */
    sharedRedis: SharedRedis | null;
    /** Whether `startRedisProcess` works: a Redis that a test may kill, freeze and fill. */
    hasRedisBinary: boolean;
  }
}

/**
 * Decides once per run how suites get their Redis. Without one they are left out, which the reporter names and judges. At the
 * end it looks whether any service wrote a secret or an input. What tests leave in their temporary directory goes with it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const temporary = mkdtempSync(join(tmpdir(), 'tests-'));
  chmodSync(temporary, 0o755); // some tests act as other users
  process.env.TMPDIR = temporary;
  const output = keepOutput();
  const redis = await chooseRedis();
  process.stdout.write(`Redis for this run: ${describe(redis)}\n`);
  const { shared, stop } = await startSharedRedis(redis);
  project.provide('redis', redis);
  project.provide('sharedRedis', shared);
  project.provide('hasRedisBinary', await hasRedisBinary());
  return async () => {
    await stop();
    try {
      checkOutput(output);
    } catch (error) {
      process.exitCode = 1;
      throw error;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
    }
  };
}

function describe(redis: RedisChoice): string {
  switch (redis.kind) {
    case 'container':
      return `containers of ${redis.image}`;
    case 'binary':
      return `the program ${redis.command}`;
    case 'url':
      return 'databases of TEST_REDIS_URL';
    case 'unavailable':
      return 'none';
  }
}

import type { TestProject } from 'vitest/node';
import { chooseRedis, hasRedisBinary } from './choose-redis.ts';
import { HOW_TO_GET_REDIS, requireAllSuites } from './left-out.ts';
import type { RedisChoice } from './redis-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The run's Redis; `describe.skipIf(inject('redis').kind === 'unavailable')`, then `startRedis(inject('redis'))`. */
    redis: RedisChoice;
    /** Whether `startRedisProcess` works: a Redis that a test may kill, freeze and fill. */
    hasRedisBinary: boolean;
  }
}

/** Decides once per run how suites get their Redis. */
export async function setup(project: TestProject): Promise<void> {
  const redis = await chooseRedis();
  if (redis.kind === 'unavailable' && requireAllSuites()) {
    throw new Error(`every suite is required, and there is no Redis: ${redis.reason}. ${HOW_TO_GET_REDIS}`);
  }
  process.stdout.write(`Redis for this run: ${describe(redis)}\n`);
  project.provide('redis', redis);
  project.provide('hasRedisBinary', await hasRedisBinary());
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

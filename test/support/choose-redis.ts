import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { withDeadline } from './deadline.ts';
import { startRedis } from './redis.ts';
import type { RedisChoice } from './redis-server.ts';

const PROBE_TIMEOUT_MS = 5_000;
const run = promisify(execFile);

/**
 * How this machine can give tests a real Redis: a container, else `redis-server` from the PATH, else TEST_REDIS_URL.
 * Each candidate is started once, so what is chosen works.
 */
export async function chooseRedis(environment: NodeJS.ProcessEnv = process.env): Promise<RedisChoice> {
  const reasons: string[] = [];
  for (const candidate of [containerChoice, binaryChoice, urlChoice]) {
    try {
      const choice = await candidate(environment);
      const server = await startRedis(choice);
      await server.stop();
      return choice;
    } catch (error) {
      reasons.push(error instanceof Error ? firstLine(error.message) : String(error));
    }
  }
  return { kind: 'unavailable', reason: reasons.join('; ') };
}

/** Whether `startRedisProcess` can work here: suites that kill, freeze and fill a Redis need a local program. */
export async function hasRedisBinary(): Promise<boolean> {
  try {
    await run('redis-server', ['--version'], { timeout: PROBE_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}

async function containerChoice(environment: NodeJS.ProcessEnv): Promise<RedisChoice> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  // A Docker client is often installed without a daemon that answers.
  await withDeadline(getContainerRuntimeClient(), PROBE_TIMEOUT_MS, 'asking Docker');
  return { kind: 'container', image: environment.REDIS_IMAGE || 'redis:8-alpine' };
}

async function binaryChoice(): Promise<RedisChoice> {
  if (!(await hasRedisBinary())) throw new Error('no redis-server on the PATH');
  return { kind: 'binary', command: 'redis-server' };
}

async function urlChoice(environment: NodeJS.ProcessEnv): Promise<RedisChoice> {
  if (!environment.TEST_REDIS_URL) throw new Error('TEST_REDIS_URL is not set');
  return { kind: 'url', url: environment.TEST_REDIS_URL };
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message;
}

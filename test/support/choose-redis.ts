import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { withDeadline } from './deadline.ts';
import { startRedis } from './redis.ts';
import type { RedisChoice } from './redis-server.ts';

const PROBE_TIMEOUT_MS = 5_000;
const run = promisify(execFile);

/**
 * How this machine can give tests a real Redis: a container, else `redis-server` from the PATH, else TEST_REDIS_URL.
 * Each candidate is started once, so what is chosen works. REDIS_IMAGE, when set, is the only candidate: falling back
 * would hide that containers do not work. TEST_REDIS=none: as on a machine without one.
 */
export async function chooseRedis(environment: NodeJS.ProcessEnv = process.env): Promise<RedisChoice> {
  if (environment.TEST_REDIS === 'none') return { kind: 'unavailable', reason: 'TEST_REDIS=none' };
  const reasons: string[] = [];
  const candidates = environment.REDIS_IMAGE ? CANDIDATES.slice(0, 1) : CANDIDATES;
  for (const [name, choose] of candidates) {
    try {
      const choice = await choose(environment);
      const server = await startRedis(choice);
      await server.stop();
      return choice;
    } catch (error) {
      reasons.push(`${name}: ${firstLine(error)}`);
    }
  }
  return { kind: 'unavailable', reason: reasons.join('; ') };
}

/** Whether `startRedisProcess` can work here: suites that kill, freeze and fill a Redis need a local program. */
export async function hasRedisBinary(environment: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (environment.TEST_REDIS === 'none') return false;
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
  if (!(await hasRedisBinary())) throw new Error('not on the PATH');
  return { kind: 'binary', command: 'redis-server' };
}

async function urlChoice(environment: NodeJS.ProcessEnv): Promise<RedisChoice> {
  if (!environment.TEST_REDIS_URL) throw new Error('not set');
  return { kind: 'url', url: environment.TEST_REDIS_URL };
}

const CANDIDATES = [
  ['Docker', containerChoice],
  ['redis-server', binaryChoice],
  ['TEST_REDIS_URL', urlChoice],
] as const;

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return (message.split('\n', 1)[0] ?? message).trim();
}

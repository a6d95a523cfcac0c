import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { benchPlace, freePort, startRedis, stop } from './processes.ts';

/** An empty shared directory in `place`. */
export async function makeSharedDir(place = benchPlace()): Promise<string> {
  const sharedDir = await mkdtemp(join(place, 'rule-server-bench-'));
  await mkdir(join(sharedDir, 'mock'));
  return sharedDir;
}

/**
 * What a bench runs on: an empty shared directory in `place`, a Redis of its own unless `redisUrl` names one, and a free port.
 */
export async function setUp(redisUrl?: string, place = benchPlace()) {
  const sharedDir = await makeSharedDir(place);
  const redisPort = await freePort();
  const redis = redisUrl ? undefined : startRedis(redisPort);
  const REDIS_URL = redisUrl ?? `redis://127.0.0.1:${redisPort}`;
  const PORT = String(await freePort());
  return {
    sharedDir,
    REDIS_URL,
    /** Settings of an API and a worker. */
    common: { REDIS_URL, SHARED_DIR: sharedDir, PORT },
    /** Where that API listens. */
    url: `http://127.0.0.1:${PORT}`,
    async tearDown(): Promise<void> {
      if (redis) await stop(redis);
      await rm(sharedDir, { recursive: true, force: true });
    },
  };
}

import { inject } from 'vitest';
import { startRedis } from './redis.ts';
import { claimRedisDatabase } from './redis-database.ts';
import type { RedisChoice, RedisServer } from './redis-server.ts';

/** As many services as all test processes together have open at once, with room to spare. */
const DATABASES = 200;

/** The Redis that all services of a run share unless they ask for one of their own: each has a numbered database of it. */
export type SharedRedis = { url: string; databases: number };

/** Starts it, or takes that of TEST_REDIS_URL. Null where the run has no Redis. */
export async function startSharedRedis(
  choice: RedisChoice,
): Promise<{ shared: SharedRedis | null; stop(): Promise<void> }> {
  if (choice.kind === 'unavailable') return { shared: null, stop: async () => {} };
  if (choice.kind === 'url') return { shared: { url: choice.url, databases: 16 }, stop: async () => {} };
  const server = await startRedis(choice, { databases: DATABASES });
  return { shared: { url: server.url, databases: DATABASES }, stop: server.stop };
}

/** An empty database of the run's Redis, until it is stopped; undefined where there is none. */
export async function borrowDatabase(): Promise<RedisServer | undefined> {
  const shared = inject('sharedRedis');
  if (shared === null) return undefined;
  const { url, databases } = shared;
  return claimRedisDatabase(url, databases, Math.ceil(Math.random() * databases)); // beginning at 1, each asks for all that are taken
}

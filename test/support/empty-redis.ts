import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startRedis } from './redis.ts';
import type { RedisChoice, RedisServer } from './redis-server.ts';

/** Gives a suite a connection to a Redis of its own, which is empty before each test. */
export function withEmptyRedis(choice: RedisChoice, take: (redis: Redis) => void): void {
  let server: RedisServer | undefined;
  let redis: Redis | undefined;
  beforeAll(async () => {
    server = await startRedis(choice);
    redis = new Redis(server.url);
    take(redis);
  });
  beforeEach(async () => {
    await redis?.flushdb();
  });
  afterAll(async () => {
    redis?.disconnect();
    await server?.stop();
  });
}

import { afterAll, beforeAll, describe, inject } from 'vitest';
import { openQueueBackend, type QueueBackend } from '../../src/shared/queue.ts';
import { startRedis } from './redis.ts';
import { claimRedisDatabase } from './redis-database.ts';
import type { RedisServer } from './redis-server.ts';
import { type Service, type ServiceOptions, startService } from './start-service.ts';

export type Start = (options?: Omit<ServiceOptions, 'queueUrl' | 'embedded'>) => Promise<Service>;

/**
 * The same suite on the embedded queue and on Redis; the second is left out where there is none. A suite may start
 * several services, one after the other.
 */
export function onEachQueue(title: string, suite: (start: Start) => void): void {
  describe(`${title}, on the embedded queue`, () => {
    let embedded: QueueBackend | undefined;
    beforeAll(async () => {
      embedded = await openQueueBackend(undefined);
    });
    afterAll(() => embedded?.close());
    suite((options) => startService({ ...options, embedded }));
  });

  const choice = inject('redis');
  describe.skipIf(choice.kind === 'unavailable')(`${title}, on Redis`, () => {
    let redis: RedisServer | undefined;
    beforeAll(async () => {
      redis = await startRedis(choice);
    });
    afterAll(() => redis?.stop());
    suite(async (options) => {
      if (!redis) throw new Error('Redis has not been started yet');
      // A server that somebody else runs gave us one database already.
      if (redis.kind === 'url') return startService({ ...options, queueUrl: redis.url });
      const database = await claimRedisDatabase(redis.url);
      const service = await startService({ ...options, queueUrl: database.url });
      const stop = () => service.stop().finally(() => database.stop());
      return { ...service, stop, [Symbol.asyncDispose]: stop };
    });
  });
}

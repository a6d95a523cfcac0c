import { afterAll, beforeAll, describe, inject } from 'vitest';
import { openQueueBackend, type QueueBackend } from '../../src/shared/store/queue-backend.ts';
import { startRedis } from './redis.ts';
import { claimRedisDatabase } from './redis-database.ts';
import type { RedisServer } from './redis-server.ts';
import { type Service, type ServiceOptions, startService } from './start-service.ts';

export type Start = (options?: Omit<ServiceOptions, 'queueUrl' | 'embedded'>) => Promise<Service>;

/**
 * The same suite on the embedded queue and on Redis; the second is left out where there is none. Each service that a
 * suite starts has a queue of its own.
 */
export function onEachQueue(title: string, suite: (start: Start) => void): void {
  describe(`${title}, on the embedded queue`, () => {
    // Starting an embedded queue takes seconds: the services of a suite use one, unless there are several at a time.
    let shared: QueueBackend | undefined;
    let isLent = false;
    beforeAll(async () => {
      shared = await openQueueBackend(undefined);
    });
    afterAll(() => shared?.close());
    suite(async (options) => {
      if (isLent) return startService(options);
      isLent = true;
      const giveBack = () => {
        isLent = false;
      };
      try {
        return stopping(await startService({ ...options, embedded: shared }), giveBack);
      } catch (error) {
        giveBack();
        throw error;
      }
    });
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
      const database = await claimRedisDatabase(redis.url);
      return stopping(await startService({ ...options, queueUrl: database.url }), () => database.stop());
    });
  });
}

/** The same service, with something more to do once it has stopped. */
function stopping(service: Service, afterwards: () => Promise<void> | void): Service {
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop().finally(afterwards);
    return stopped;
  };
  return { ...service, stop, [Symbol.asyncDispose]: stop };
}

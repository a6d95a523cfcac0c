import { afterAll, beforeAll, describe, inject } from 'vitest';
import { startRedis } from './redis.ts';
import { claimRedisDatabase } from './redis-database.ts';
import type { RedisServer } from './redis-server.ts';
import { type Service, type ServiceOptions, startService } from './start-service.ts';

export type Start = (options?: Omit<ServiceOptions, 'queueUrl'>) => Promise<Service>;
type Suite = (start: Start) => void;

const choice = inject('redis');
const hasRedis = choice.kind !== 'unavailable';

/**
 * The same suite on the embedded queue and on Redis; the second is left out where there is none. Each service that a
 * suite starts has a queue of its own. For the few suites that show that both queues keep the same promises.
 */
export function onEachQueue(title: string, suite: Suite): void {
  describe(`${title}, on the embedded queue`, () => suite(startService));
  onRedis(title, suite);
}

/** A suite for which the queue makes no difference: on Redis, or on the embedded queue where there is none. */
export function onOneQueue(title: string, suite: Suite): void {
  if (hasRedis) onRedis(title, suite);
  else describe(`${title}, on the embedded queue`, () => suite(startService));
}

function onRedis(title: string, suite: Suite): void {
  describe.skipIf(!hasRedis)(`${title}, on Redis`, () => {
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
function stopping(service: Service, afterwards: () => Promise<void>): Service {
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= service.stop().finally(afterwards);
    return stopped;
  };
  return { ...service, stop, [Symbol.asyncDispose]: stop };
}

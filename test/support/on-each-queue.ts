import { describe, inject } from 'vitest';
import { type Service, type ServiceOptions, startService } from './start-service.ts';

export type Start = (options?: Omit<ServiceOptions, 'queueUrl' | 'embedded'>) => Promise<Service>;
type Suite = (start: Start) => void;

const hasRedis = inject('redis').kind !== 'unavailable';

/**
 * The same suite on the embedded queue and on Redis; the second is left out where there is none. Each service that a
 * suite starts has a queue of its own. For the few suites that show that both queues keep the same promises.
 */
export function onEachQueue(title: string, suite: Suite): void {
  onEmbeddedQueue(title, suite);
  describe.skipIf(!hasRedis)(`${title}, on Redis`, () => suite(startService));
}

/** A suite for which the queue makes no difference: on Redis, or on the embedded queue where there is none. */
export function onOneQueue(title: string, suite: Suite): void {
  describe(`${title}, on ${hasRedis ? 'Redis' : 'the embedded queue'}`, () => suite(startService));
}

/** What the embedded queue does in its own way. */
function onEmbeddedQueue(title: string, suite: Suite): void {
  describe(`${title}, on the embedded queue`, () => suite((options) => startService({ ...options, embedded: true })));
}

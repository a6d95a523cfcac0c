import type { Redis } from 'ioredis';
import { createRedisBatches } from '../batches/redis-batches.ts';
import { openHistory } from '../history/history.ts';
import { createRedisHistory } from '../history/redis-history.ts';
import { createRedisTrees } from '../history/trees.ts';
import { createRedisIdempotencyRecords } from '../idempotency/redis-idempotency-records.ts';
import { createRedisStore } from '../key-value-store.ts';
import type { Stores } from '../stores.ts';

export const HISTORIES = { calls: 'history', batches: 'history-of-batches', pinned: 'pinned-history' } as const;

type Options = { prefix: string; openForRecords: () => Redis };

/** The stores of one Redis beside the queues. Idempotency records have a connection of their own, on which a command may take longer. */
export function redisStores(redis: Redis, { prefix, openForRecords }: Options): Stores {
  const store = createRedisStore(redis, prefix);
  return {
    store,
    openTrees: (maxBytes) => createRedisTrees(redis, prefix, maxBytes),
    openIdempotencyRecords: (maxBytes) => createRedisIdempotencyRecords(openForRecords(), { prefix, maxBytes }),
    openHistory: (limits, options) =>
      openHistory({
        ...{ store, pinnedTrees: store, limits, ...options },
        open: (part, own) => createRedisHistory(redis, { prefix, name: HISTORIES[part] }, own),
      }),
    openBatches: (limits) => createRedisBatches(redis, prefix, limits),
  };
}

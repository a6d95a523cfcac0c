import type { Redis } from 'ioredis';
import { createRedisStore, storedKey } from './key-value-store.ts';
import { createMissingRecords } from './missing-records.ts';
import type { QueueBackend } from './queue-backend.ts';
import { createRedisBatches } from './redis-batches.ts';
import { createRedisHistory, HISTORY_PREFIX } from './redis-history.ts';
import { createRedisNotes } from './redis-notes.ts';
import { batchesPartOf, createSplitHistory } from './split-history.ts';

const BATCH_HISTORY = '{rule-server}:history-of-batches:';

type Stores = Pick<QueueBackend, 'store' | 'openNotes' | 'openHistory' | 'openMissingRecords' | 'openBatches'>;

/** What one Redis keeps beside the queues, over one connection. */
export function redisStores(redis: Redis): Stores {
  return {
    store: createRedisStore(redis),
    openNotes: (maxBytes) => createRedisNotes(redis, storedKey, maxBytes),
    openHistory: (limits) =>
      createSplitHistory(
        (own, part) => createRedisHistory(redis, storedKey, own, part === 'batches' ? BATCH_HISTORY : undefined),
        limits,
      ),
    openMissingRecords: (queue, limits) =>
      createMissingRecords(redis, (state) => queue.toKey(state), {
        calls: { prefix: HISTORY_PREFIX, limits },
        batches: { prefix: BATCH_HISTORY, limits: batchesPartOf(limits) },
      }),
    openBatches: (limits) => createRedisBatches(redis, limits),
  };
}

import type { Redis } from 'ioredis';
import { createRedisBatches } from '../batches/redis-batches.ts';
import { createMissingRecords } from '../history/missing-records.ts';
import { batchesPartOf, openHistory } from '../history/open-history.ts';
import { createRedisHistory, historyPrefix } from '../history/redis-history.ts';
import { createRedisTrees } from '../history/trees.ts';
import { createRedisStore } from '../key-value-store.ts';
import { createRedisNotes } from '../notes/redis-notes.ts';
import type { QueueBackend } from '../queue/queue-backend.ts';

const HISTORIES = { calls: 'history', batches: 'history-of-batches', pinned: 'pinned-history' } as const;

type Stores = Pick<
  QueueBackend,
  'store' | 'openTrees' | 'openNotes' | 'openHistory' | 'keepEndings' | 'openMissingRecords' | 'openBatches'
>;
type Options = { prefix: string; openNoted: () => Redis };

/** The stores of one Redis beside the queues. Notes have a connection of their own, on which a command may take its time. */
export function redisStores(redis: Redis, { prefix, openNoted }: Options): Stores {
  const store = createRedisStore(redis, prefix);
  return {
    store,
    openTrees: (maxBytes) => createRedisTrees(redis, prefix, maxBytes),
    openNotes: (maxBytes) => createRedisNotes(openNoted(), { prefix, maxBytes }),
    openHistory: (limits, options) =>
      openHistory({
        ...{ store, pinnedTrees: store, limits, ...options },
        open: (part, own) => createRedisHistory(redis, { prefix, name: HISTORIES[part] }, own),
      }),
    keepEndings: () => {}, // BullMQ ends the job, in a step of its own
    openMissingRecords: (queue, limits) =>
      createMissingRecords(redis, (state) => queue.toKey(state), {
        turn: `${prefix}:history:repair`,
        calls: { prefix: historyPrefix(prefix, HISTORIES.calls), limits },
        batches: { prefix: historyPrefix(prefix, HISTORIES.batches), limits: batchesPartOf(limits) },
      }),
    openBatches: (limits) => createRedisBatches(redis, prefix, limits),
  };
}

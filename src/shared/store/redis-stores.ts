import type { Redis } from 'ioredis';
import { createRedisStore } from './key-value-store.ts';
import { createMissingRecords } from './missing-records.ts';
import type { QueueBackend } from './queue-backend.ts';
import { createRedisBatches } from './redis-batches.ts';
import { createRedisHistory, historyPrefix } from './redis-history.ts';
import { createRedisNotes } from './redis-notes.ts';
import { batchesPartOf, createSplitHistory } from './split-history.ts';
import { createRedisTrees } from './trees.ts';

/** The names of both histories. */
const HISTORIES = { calls: 'history', batches: 'history-of-batches' } as const;

type Stores = Pick<
  QueueBackend,
  | 'store'
  | 'openTrees'
  | 'openNotes'
  | 'openHistory'
  | 'openPinned'
  | 'pinnedTrees'
  | 'openMissingRecords'
  | 'openBatches'
>;
type Options = {
  prefix: string;
  /** Opens the connection of notes, with what waits for a replica. */
  openNoted: () => { redis: Redis; replicated: () => Promise<void> };
};

/** The stores of one Redis beside the queues. Notes, which a fail-over must not lose, have a connection of their own. */
export function redisStores(redis: Redis, { prefix, openNoted }: Options): Stores {
  const store = createRedisStore(redis, prefix);
  return {
    store,
    pinnedTrees: store,
    openTrees: (maxBytes) => createRedisTrees(redis, prefix, maxBytes),
    openNotes(maxBytes) {
      const noted = openNoted();
      return createRedisNotes(noted.redis, { prefix, maxBytes, replicated: noted.replicated });
    },
    openHistory: (limits) =>
      createSplitHistory((own, part) => createRedisHistory(redis, { prefix, name: HISTORIES[part] }, own), limits),
    openPinned: (limits) => createRedisHistory(redis, { prefix, name: 'pinned-history' }, limits),
    openMissingRecords: (queue, limits) =>
      createMissingRecords(redis, (state) => queue.toKey(state), {
        turn: `${prefix}:history:repair`,
        calls: { prefix: historyPrefix(prefix, HISTORIES.calls), limits },
        batches: { prefix: historyPrefix(prefix, HISTORIES.batches), limits: batchesPartOf(limits) },
      }),
    openBatches: (limits) => createRedisBatches(redis, prefix, limits),
  };
}

import type { BatchStore } from '../../batches/batch-store.ts';
import { type HistoryPart, openHistory, type PartName } from '../../history/history.ts';
import type { Trees } from '../../history/trees.ts';
import type { IdempotencyRecords } from '../../idempotency/idempotency-records.ts';
import { createEmbeddedStore, type Store } from '../../key-value-store.ts';
import type { Stores } from '../../stores.ts';
import { createEmbeddedBatches } from './batches.ts';
import { createEmbeddedHistory } from './history.ts';
import { createEmbeddedIdempotencyRecords } from './idempotency-records.ts';
import type { OpenTable } from './tables.ts';

const HISTORIES = { calls: 'history', batches: 'history_of_batches', pinned: 'pinned' } as const;

/** The stores of the embedded back end. API and worker of the process share them. */
export function embeddedStores(openTable: OpenTable): Stores {
  const store = createEmbeddedStore(openTable('store'));
  let records: IdempotencyRecords | undefined;
  let batches: BatchStore | undefined;
  const histories = new Map<PartName, HistoryPart>();
  let trees: Trees | undefined;
  const pinnedTrees = createEmbeddedStore(openTable('pinned_trees'), Number.POSITIVE_INFINITY);
  return {
    store,
    openTrees: (maxBytes) => (trees ??= embeddedTrees(createEmbeddedStore(openTable('trees'), maxBytes))),
    openIdempotencyRecords: (maxBytes) =>
      (records ??= createEmbeddedIdempotencyRecords(maxBytes, openTable('idempotency_records'))),
    openHistory: (limits, options) =>
      openHistory({
        ...{ store, pinnedTrees, limits, ...options },
        open(part, own) {
          const opened = histories.get(part) ?? createEmbeddedHistory(store, own, openTable(HISTORIES[part]));
          histories.set(part, opened);
          return opened;
        },
      }),
    openBatches: (limits) => (batches ??= createEmbeddedBatches(limits, openTable('batches'))),
  };
}

function embeddedTrees({ hold, get, remove }: Store): Trees {
  return {
    async keep(key, tree, seconds) {
      if ((await hold(key, tree, seconds)) === tree) return;
      await remove(key); // the same rules, and more is known of their leaves
      await hold(key, tree, seconds);
    },
    get,
  };
}

import type { BatchStore } from '../../batches/batch-store.ts';
import type { HistoryPart } from '../../history/history.ts';
import { openHistory, type PartName } from '../../history/open-history.ts';
import type { Trees } from '../../history/trees.ts';
import { createEmbeddedStore, type Store } from '../../key-value-store.ts';
import type { Notes } from '../../notes/notes.ts';
import type { Stores } from '../../stores.ts';
import { createEmbeddedBatches } from './batches.ts';
import { createEmbeddedHistory } from './history.ts';
import { createEmbeddedNotes } from './notes.ts';
import type { OpenShelf } from './shelf.ts';

const SHELVES = { calls: 'history', batches: 'history_of_batches', pinned: 'pinned' } as const;

/** The stores of one process beside its queues, on shelves. Its API and its worker open the same ones. */
export function embeddedStores(openShelf: OpenShelf): Stores {
  const store = createEmbeddedStore(openShelf('store'));
  let notes: Notes | undefined;
  let batches: BatchStore | undefined;
  const histories = new Map<PartName, HistoryPart>();
  let trees: Trees | undefined;
  const pinnedTrees = createEmbeddedStore(openShelf('pinned_trees'), Number.POSITIVE_INFINITY);
  return {
    store,
    openTrees: (maxBytes) => (trees ??= embeddedTrees(createEmbeddedStore(openShelf('trees'), maxBytes))),
    openNotes: (maxBytes) => (notes ??= createEmbeddedNotes(maxBytes, openShelf('notes'))),
    openHistory: (limits, options) =>
      openHistory({
        ...{ store, pinnedTrees, limits, ...options },
        open(part, own) {
          const opened = histories.get(part) ?? createEmbeddedHistory(store, own, openShelf(SHELVES[part]));
          histories.set(part, opened);
          return opened;
        },
      }),
    openBatches: (limits) => (batches ??= createEmbeddedBatches(limits, openShelf('batches'))),
  };
}

/** The newest entry is evicted last. */
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

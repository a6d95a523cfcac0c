import type { BatchStore } from '../../batches/batch-store.ts';
import type { History, HistoryLimits } from '../../history/history.ts';
import { createSplitHistory } from '../../history/split-history.ts';
import type { Trees } from '../../history/trees.ts';
import { createEmbeddedStore, type EmbeddedStore, type Store } from '../../key-value-store.ts';
import type { Notes } from '../../notes/notes.ts';
import type { QueueBackend } from '../../queue/queue-backend.ts';
import { createEmbeddedBatches } from './batches.ts';
import { createEmbeddedHistory } from './history.ts';
import { createEmbeddedNotes } from './notes.ts';
import type { OpenShelf } from './shelf.ts';

type Stores = Pick<
  QueueBackend,
  'store' | 'openTrees' | 'openNotes' | 'openHistory' | 'openPinned' | 'pinnedTrees' | 'openBatches'
>;

/** The stores of one process beside its queues, on shelves. Its API and its worker open the same ones. */
export function embeddedStores(openShelf: OpenShelf): Stores {
  const store = createEmbeddedStore(openShelf('store'));
  let notes: Notes | undefined;
  let batches: BatchStore | undefined;
  let history: History | undefined;
  let pinned: History | undefined;
  let trees: Trees | undefined;
  return {
    store,
    pinnedTrees: createEmbeddedStore(openShelf('pinned_trees'), Number.POSITIVE_INFINITY),
    openTrees: (maxBytes) => (trees ??= embeddedTrees(createEmbeddedStore(openShelf('trees'), maxBytes))),
    openNotes: (maxBytes) => (notes ??= createEmbeddedNotes(maxBytes, openShelf('notes'))),
    openHistory: (limits) => (history ??= openEmbeddedHistory(store, limits, openShelf)),
    openPinned: (limits) => (pinned ??= createEmbeddedHistory(store, limits, openShelf('pinned'))),
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

const SHELVES = { calls: 'history', batches: 'history_of_batches' } as const;

/** The history of one process. */
function openEmbeddedHistory(store: EmbeddedStore, limits: HistoryLimits, openShelf: OpenShelf): History {
  return createSplitHistory((own, part) => createEmbeddedHistory(store, own, openShelf(SHELVES[part])), limits);
}

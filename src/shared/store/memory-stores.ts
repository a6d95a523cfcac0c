import type { BatchStore } from './batch-store.ts';
import type { History, HistoryLimits } from './history.ts';
import { createMemoryStore, type Store } from './key-value-store.ts';
import { createMemoryBatches } from './memory-batches.ts';
import { createMemoryHistory } from './memory-history.ts';
import { createMemoryNotes } from './memory-notes.ts';
import type { Notes } from './notes.ts';
import type { QueueBackend } from './queue-backend.ts';
import { createMemoryShelf, type OpenShelf } from './shelf.ts';
import { createSplitHistory } from './split-history.ts';

type Stores = Pick<QueueBackend, 'store' | 'openNotes' | 'openHistory' | 'openBatches'>;

/** The stores of one process beside its queues, on shelves. Its API and its worker open the same ones. */
export function memoryStores(openShelf: OpenShelf = createMemoryShelf): Stores {
  const store = createMemoryStore(undefined, openShelf('store'));
  let notes: Notes | undefined;
  let batches: BatchStore | undefined;
  let history: History | undefined;
  return {
    store,
    openNotes: (maxBytes) => (notes ??= createMemoryNotes(maxBytes, openShelf('notes'))),
    openHistory: (limits) => (history ??= openMemoryHistory(store, limits, openShelf)),
    openBatches: (limits) => (batches ??= createMemoryBatches(limits, openShelf('batches'))),
  };
}

const SHELVES = { calls: 'history', batches: 'history_of_batches' } as const;

/** The history of one process. */
export function openMemoryHistory(
  store: Store,
  limits: HistoryLimits,
  openShelf: OpenShelf = createMemoryShelf,
): History {
  return createSplitHistory((own, part) => createMemoryHistory(store, own, openShelf(SHELVES[part])), limits);
}

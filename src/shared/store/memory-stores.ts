import type { BatchStore } from './batch-store.ts';
import type { History, HistoryLimits } from './history.ts';
import { createMemoryStore, type Store } from './key-value-store.ts';
import { createMemoryBatches } from './memory-batches.ts';
import { createMemoryHistory } from './memory-history.ts';
import { createMemoryNotes } from './memory-notes.ts';
import type { Notes } from './notes.ts';
import type { QueueBackend } from './queue-backend.ts';
import { createSplitHistory } from './split-history.ts';

type Stores = Pick<QueueBackend, 'store' | 'openNotes' | 'openHistory' | 'openMissingRecords' | 'openBatches'>;

/** The stores of one process beside its queues. Its API and its worker open the same ones. */
export function memoryStores(): Stores {
  const store = createMemoryStore();
  let notes: Notes | undefined;
  let batches: BatchStore | undefined;
  let history: History | undefined;
  return {
    store,
    openNotes: (maxBytes) => (notes ??= createMemoryNotes(maxBytes)),
    openHistory: (limits) => (history ??= openMemoryHistory(store, limits)),
    openMissingRecords: () => async () => [], // the worker and the history of this process end together
    openBatches: (limits) => (batches ??= createMemoryBatches(limits)),
  };
}

/** The history of one process. */
export function openMemoryHistory(store: Store, limits: HistoryLimits): History {
  return createSplitHistory((own) => createMemoryHistory(store, own), limits);
}

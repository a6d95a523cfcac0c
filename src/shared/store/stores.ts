import type { BatchLimits, BatchStore } from './batches/batch-store.ts';
import type { History, HistoryLimits } from './history/history.ts';
import type { HistoryOptions } from './history/open-history.ts';
import type { Trees } from './history/trees.ts';
import type { Store } from './key-value-store.ts';
import type { Notes } from './notes/notes.ts';

export type Stores = {
  store: Store;
  openTrees(maxBytes: number): Trees;
  /** Idempotency records. */
  openNotes(maxBytes: number): Notes;
  openHistory(limits: HistoryLimits, options?: HistoryOptions): History;
  openBatches(limits: BatchLimits): BatchStore;
};

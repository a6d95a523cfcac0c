import type { BatchLimits, BatchStore } from './batches/batch-store.ts';
import type { History, HistoryLimits } from './history/history.ts';
import type { HistoryOptions } from './history/open-history.ts';
import type { Trees } from './history/trees.ts';
import type { Store } from './key-value-store.ts';
import type { Notes } from './notes/notes.ts';

/** What a queue store keeps beside its queues. */
export type Stores = {
  store: Store;
  /** The trees of rules that ran, in at most `maxBytes`. */
  openTrees(maxBytes: number): Trees;
  /** Notes of calls under an Idempotency-Key, with at most `maxBytes` in all. */
  openNotes(maxBytes: number): Notes;
  /** Settled executions. */
  openHistory(limits: HistoryLimits, options?: HistoryOptions): History;
  /** Batches and their items. */
  openBatches(limits: BatchLimits): BatchStore;
};

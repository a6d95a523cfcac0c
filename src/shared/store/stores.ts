import type { BatchLimits, BatchStore } from './batches/batch-store.ts';
import type { History, HistoryLimits, HistoryOptions } from './history/history.ts';
import type { Trees } from './history/trees.ts';
import type { IdempotencyRecords } from './idempotency/idempotency-records.ts';
import type { Store } from './key-value-store.ts';

export type Stores = {
  store: Store;
  openTrees(maxBytes: number): Trees;
  /** Idempotency records. */
  openIdempotencyRecords(maxBytes: number): IdempotencyRecords;
  openHistory(limits: HistoryLimits, options?: HistoryOptions): History;
  openBatches(limits: BatchLimits): BatchStore;
};

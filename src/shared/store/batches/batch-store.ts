import type { Batch, BatchProgress, BatchState, ItemDetail, ItemHead } from '../../cases/batch.ts';
import type { Case } from '../../cases/case.ts';
import type { SkipReason } from '../../reasons/remarks.ts';

/** How long batches are kept, in how many bytes, and how many may run at once. */
export type BatchLimits = { seconds: number; bytes: number; running: number };

export const CASES_PER_CHUNK = 100;

/** Whether a runner may send one more item to a client now. `limit`: open items of all batches there. */
type SlotRequest = { client: string; batchId: string; mockId: string; limit: number };

/** What became of an item of the `targetIndex`-th target. `unlessBegun`: only if no worker may have sent it. */
type SettledItem = {
  n: number;
  targetIndex: number;
  head: ItemHead;
  detail: ItemDetail | null;
  unlessBegun?: boolean;
};

/** Batches, their cases, and the ending of each item. The first ending counts. */
export type BatchStore = {
  /**
   * Creates a batch. Idempotent: `created` also if the id exists. `no-room`: it does not fit even without all ended batches. `too-many`:
   * the limit of running batches, `too-many-of-key`: that of its key (`maxOfKey`).
   */
  create(
    batch: Batch,
    cases: Case[],
    maxOfKey?: number,
  ): Promise<'created' | 'no-room' | 'too-many' | 'too-many-of-key'>;
  /** The batch with its progress; `gone` if it has expired, null if it never existed. */
  read(batchId: string): Promise<{ batch: Batch; progress: BatchProgress } | 'gone' | null>;
  /** Newest first. */
  list(): Promise<string[]>;
  /** Those that are not over. */
  running(): Promise<string[]>;
  /** Cases `chunk * CASES_PER_CHUNK` and the following. */
  cases(batchId: string, chunk: number): Promise<Case[]>;
  /**
   * Records an item's `claimBy` before it is sent. Resolves to the one recorded first, or to null if the item has its ending: then it must
   * not be sent.
   */
  begin(batchId: string, n: number, claimBy: number): Promise<number | null>;
  /** Records the ending of an item; false if it has one. */
  settle(batchId: string, item: SettledItem): Promise<boolean>;
  /** The items from `first` to `last`, both included. */
  heads(batchId: string, first: number, last: number): Promise<ItemHead[]>;
  detail(batchId: string, n: number): Promise<ItemDetail | null>;
  /** Erases an item, and replaces its chunk by `cases`, in which its case is missing. */
  erase(batchId: string, item: { n: number; chunk: number; cases: Case[] }): Promise<void>;
  /** Compare and set of the state. `why`: the reason, stored with it. */
  change(batchId: string, from: readonly BatchState[], to: BatchState, why?: SkipReason): Promise<boolean>;
  /** Grants a slot at a client. Batches take turns, and together they keep the limit. */
  acquire(request: SlotRequest): Promise<boolean>;
  /** Renews slots at a client for `SLOT_MS`. */
  renew(client: string, mockIds: readonly string[]): Promise<void>;
  release(request: Pick<SlotRequest, 'client' | 'batchId' | 'mockId'>): Promise<void>;
  /** Bytes of all batches together. */
  bytes(): Promise<number>;
};

/** A lease: a slot expires unless its worker renews it, so a dead worker does not occupy a client. */
export const SLOT_MS = 4000;
/** A batch that asked within this time is waiting for its turn. */
export const WANTED_MS = 300;

/** The head of an item whose data was erased. */
export const erasedHead = (head: ItemHead): ItemHead => ({ ...head, error: null, differences: 0 });

export const sizeOf = (batch: Batch, chunks: readonly string[]) =>
  chunks.reduce((sum, { length }) => sum + length, JSON.stringify(batch).length);

/** Cases in the texts they are kept as. */
export function chunksOf(cases: readonly Case[]): string[] {
  return Array.from({ length: Math.ceil(cases.length / CASES_PER_CHUNK) }, (_, chunk) =>
    JSON.stringify(cases.slice(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK)),
  );
}

import type { Batch, BatchProgress, BatchState, ItemDetail, ItemHead } from '../../cases/batch.ts';
import type { Case } from '../../cases/case.ts';

/** How long batches are kept, in how many bytes, and how many may run at once. */
export type BatchLimits = { seconds: number; bytes: number; running: number };

/** Cases are read and written this many at a time. */
export const CASES_PER_CHUNK = 100;

/** Whether a runner may send one more item to a client now. `limit`: open items of all batches there. */
type PermitRequest = { client: string; batchId: string; mockId: string; limit: number };

/** What became of an item of the `targetIndex`-th target. `unlessBegun`: only if no worker may have sent it. */
export type SettledItem = {
  n: number;
  targetIndex: number;
  head: ItemHead;
  detail: ItemDetail | null;
  unlessBegun?: boolean;
};

/** Batches, their cases, and what became of each item. What is settled once stays as it is. */
export type BatchStore = {
  /** Keeps a new batch; once: also `created` when a batch of this id was kept before. `no-room`: also without all finished ones it would not fit. `too-many`: enough of them run. `too-many-of-key`: `maxOfKey` of its key do. */
  create(
    batch: Batch,
    cases: Case[],
    maxOfKey?: number,
  ): Promise<'created' | 'no-room' | 'too-many' | 'too-many-of-key'>;
  /** The batch and how far it is; `gone` when it was kept once, null when it is unknown. */
  read(batchId: string): Promise<{ batch: Batch; progress: BatchProgress } | 'gone' | null>;
  /** Newest first. */
  list(): Promise<string[]>;
  /** Those that are not over. */
  running(): Promise<string[]>;
  /** Cases `chunk * CASES_PER_CHUNK` and the following. */
  cases(batchId: string, chunk: number): Promise<Case[]>;
  /**
   * Notes by when an item may be begun, before it is sent. Resolves to what was noted first; to null when it is settled: then it must not
   * be sent.
   */
  begin(batchId: string, n: number, claimBy: number): Promise<number | null>;
  /** Keeps what became of an item; false when that was known already. */
  settle(batchId: string, item: SettledItem): Promise<boolean>;
  /** The items from `first` to `last`, both included. */
  heads(batchId: string, first: number, last: number): Promise<ItemHead[]>;
  detail(batchId: string, n: number): Promise<ItemDetail | null>;
  /** Forgets what was kept of an item, and puts `cases`, without its case, in the place of a chunk. */
  erase(batchId: string, item: { n: number; chunk: number; cases: Case[] }): Promise<void>;
  /** Changes the state unless it is not one of `from` any more. `why`: the reason, kept with it. */
  change(batchId: string, from: readonly BatchState[], to: BatchState, why?: string): Promise<boolean>;
  /** Batches take turns at a client, and all of them together keep the limit. */
  acquire(request: PermitRequest): Promise<boolean>;
  /** Keeps permits at a client for another `PERMIT_MS`. */
  renew(client: string, mockIds: readonly string[]): Promise<void>;
  release(request: Pick<PermitRequest, 'client' | 'batchId' | 'mockId'>): Promise<void>;
  /** Bytes of all batches together. */
  bytes(): Promise<number>;
};

/** A permit lapses after this time unless its worker renews it: those of a worker that died do not keep a client's places. */
export const PERMIT_MS = 4000;
/** A batch is remembered at least as long as the Idempotency-Key it was created under. */
export const BATCH_KEY_SECONDS = 24 * 3600;
/** A batch that asked this lately is waiting for its turn. */
export const WANTED_MS = 300;

/** The head of an item whose data was erased. */
export const erasedHead = (head: ItemHead): ItemHead => ({ ...head, error: null, differences: 0, digest: null });

export const sizeOf = (batch: Batch, chunks: readonly string[]) =>
  chunks.reduce((sum, { length }) => sum + length, JSON.stringify(batch).length);

/** Cases in the texts they are kept as. */
export function chunksOf(cases: readonly Case[]): string[] {
  return Array.from({ length: Math.ceil(cases.length / CASES_PER_CHUNK) }, (_, chunk) =>
    JSON.stringify(cases.slice(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK)),
  );
}

import { z } from 'zod';
import {
  type Batch,
  type BatchProgress,
  batchSchema,
  itemHeadSchema,
  noCounts,
  skipReasonSchema,
} from '../../../cases/batch.ts';
import { batchStateSchema } from '../../../contract/batches.ts';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { sizeOf } from '../../batches/batch-store.ts';
import type { Entry, Table } from './tables.ts';

/** An item that may have been sent. `size`: the bytes it takes since it was settled. */
const itemSchema = z.object({
  n: z.int(),
  claimBy: z.int().optional(),
  targetIndex: z.int().optional(),
  head: itemHeadSchema.optional(),
  size: z.int().default(0),
});
export type Item = z.infer<typeof itemSchema>;

const batchInfoSchema = z.object({
  batch: batchSchema,
  chunks: z.int(),
  state: batchStateSchema,
  endedAt: z.int().nullable(),
  why: skipReasonSchema.nullable().default(null),
  /** Of the batch itself and its cases. */
  bytes: z.int(),
});
export type BatchInfo = z.infer<typeof batchInfoSchema>;
export type Kept = BatchInfo & { counts: BatchProgress['counts']; items: Map<number, Item>; itemBytes: number };

export const chunkKey = (batchId: string, chunk: number) => `${batchId}:cases:${chunk}`;
export const itemKey = (batchId: string, n: number) => `${batchId}:item:${n}`;

export function infoEntry({ batch, chunks, state, endedAt, why, bytes }: BatchInfo): Entry {
  return {
    key: batch.batchId,
    info: JSON.stringify({ batch, chunks, state, endedAt, why, bytes } satisfies BatchInfo),
  };
}

/** The batch comes last: after a crash in between, its remaining rows are still found through it. */
export function keysOf({ batch: { batchId }, chunks, items }: Kept): string[] {
  const chunkKeys = Array.from({ length: chunks }, (_, chunk) => chunkKey(batchId, chunk));
  return [...chunkKeys, ...[...items.keys()].map((n) => itemKey(batchId, n)), batchId];
}

export function newEntry(batch: Batch, chunks: readonly string[]): Kept {
  const info = {
    batch,
    chunks: chunks.length,
    state: 'running',
    endedAt: null,
    why: null,
    bytes: sizeOf(batch, chunks),
  } as const;
  return keptOf(info);
}

function keptOf(info: BatchInfo): Kept {
  const counts = info.batch.targets.map(() => ({ ...noCounts(), pending: info.batch.cases }));
  return { ...info, counts, items: new Map(), itemBytes: 0 };
}

/** The batches of a table, in insertion order. */
export function loadFrom(table: Table): Map<string, Kept> {
  const kept = new Map<string, Kept>();
  const items: { batchId: string; item: Item }[] = [];
  for (const { key, info } of table.load()) {
    const value = parseJson(info);
    const [batchId = '', kind] = key.split(':');
    const { data: batch } = kind === undefined ? batchInfoSchema.safeParse(value) : { data: undefined };
    const { data: item } = kind === 'item' ? itemSchema.safeParse(value) : { data: undefined };
    if (batch) kept.set(key, keptOf(batch));
    if (item) items.push({ batchId, item });
  }
  for (const { batchId, item } of items) {
    const entry = kept.get(batchId);
    if (!entry) continue;
    entry.items.set(item.n, item);
    entry.itemBytes += item.size;
    const counts = entry.counts[item.targetIndex ?? -1];
    if (!counts || !item.head) continue;
    counts[item.head.verdict]++;
    counts.pending--;
  }
  return kept;
}

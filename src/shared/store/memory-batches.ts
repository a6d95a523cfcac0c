import { z } from 'zod';
import {
  type Batch,
  type BatchProgress,
  type BatchState,
  type ItemDetail,
  type ItemHead,
  itemHeadSchema,
  noCounts,
} from '../cases/batch.ts';
import { caseSchema } from '../cases/case.ts';
import { parseJson } from '../contract/parse-json.ts';
import { type BatchLimits, type BatchStore, chunksOf, erasedHead, sizeOf } from './batch-store.ts';
import { createMemoryPermits } from './memory-permits.ts';

type Kept = {
  batch: Batch;
  chunks: string[];
  state: BatchState;
  endedAt: number | null;
  counts: BatchProgress['counts'];
  sent: Map<number, number>;
  heads: Map<number, ItemHead>;
  details: Map<number, ItemDetail>;
  bytes: number;
};

const casesSchema = z.array(caseSchema);
const isOver = ({ state }: Kept) => state === 'finished' || state === 'cancelled';

/** Batches in this process, for the embedded queue. */
export function createMemoryBatches(limits: BatchLimits): BatchStore {
  const kept = new Map<string, Kept>(); // in order of arrival
  const known = new Set<string>();

  const makeRoom = (wanted: number) => makeRoomIn(kept, wanted, limits);

  return {
    async create(batch, cases) {
      if ([...kept.values()].filter((entry) => !isOver(entry)).length >= limits.running) return 'too-many';
      const entry = newEntry(batch, chunksOf(cases));
      if (!makeRoom(entry.bytes)) return 'no-room';
      kept.set(batch.batchId, entry);
      known.add(batch.batchId);
      return 'created';
    },
    async read(batchId) {
      makeRoom(0);
      const entry = kept.get(batchId);
      if (!entry) return known.has(batchId) ? 'gone' : null;
      const { batch, state, endedAt, counts } = entry;
      return { batch, progress: { state, endedAt, counts: structuredClone(counts) } };
    },
    list: async () => [...kept.keys()].reverse(),
    running: async () => [...kept].filter(([, entry]) => !isOver(entry)).map(([id]) => id),
    cases: async (batchId, chunk) => casesSchema.parse(parseJson(kept.get(batchId)?.chunks[chunk] ?? '[]')),
    async begin(batchId, n, claimBy) {
      const sent = kept.get(batchId)?.sent;
      const first = sent?.get(n) ?? claimBy;
      sent?.set(n, first);
      return first;
    },
    async settle(batchId, item) {
      const entry = kept.get(batchId);
      return entry ? settle(entry, item, makeRoom) : false;
    },
    heads: async (batchId, first, last) => headsOf(kept.get(batchId), first, last),
    detail: async (batchId, n) => kept.get(batchId)?.details.get(n) ?? null,
    async erase(batchId, { n, chunk, cases }) {
      const entry = kept.get(batchId);
      if (!entry) return;
      entry.chunks[chunk] = JSON.stringify(cases);
      entry.details.delete(n);
      const head = entry.heads.get(n);
      if (head) entry.heads.set(n, erasedHead(head));
    },
    async change(batchId, from, to) {
      const entry = kept.get(batchId);
      if (!entry || !from.includes(entry.state)) return false;
      entry.state = to;
      if (isOver(entry)) entry.endedAt = Date.now();
      return true;
    },
    ...createMemoryPermits(),
    bytes: async () => totalOf(kept),
  };
}

function newEntry(batch: Batch, chunks: string[]): Kept {
  const counts = batch.targets.map(() => ({ ...noCounts(), pending: batch.cases }));
  const empty = { sent: new Map(), heads: new Map(), details: new Map() };
  return { batch, chunks, state: 'running', endedAt: null, counts, ...empty, bytes: sizeOf(batch, chunks) };
}

/** Removes batches that have ended, the oldest first: those that are too old, and as many as leave too little room. */
function makeRoomIn(kept: Map<string, Kept>, wanted: number, { seconds, bytes }: BatchLimits): boolean {
  for (const [id, entry] of kept) {
    const tooOld = entry.batch.createdAt + seconds * 1000 < Date.now();
    if (!isOver(entry) || (!tooOld && totalOf(kept) + wanted <= bytes)) continue;
    kept.delete(id);
  }
  return totalOf(kept) + wanted <= bytes;
}

const totalOf = (kept: Map<string, Kept>) => [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);

type Settled = Parameters<BatchStore['settle']>[1];

function settle(entry: Kept, { n, targetIndex, head, detail }: Settled, makeRoom: (bytes: number) => boolean): boolean {
  const counts = entry.counts[targetIndex];
  if (!counts || entry.heads.has(n)) return false;
  entry.heads.set(n, head);
  counts[head.verdict]++;
  counts.pending--;
  const size = JSON.stringify([head, detail]).length;
  if (detail && makeRoom(size)) entry.details.set(n, detail);
  entry.bytes += entry.details.has(n) ? size : JSON.stringify(head).length;
  return true;
}

function headsOf(entry: Kept | undefined, first: number, last: number): ItemHead[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const pending = itemHeadSchema.parse({ verdict: 'pending', claimBy: entry?.sent.get(first + index) ?? null });
    return entry?.heads.get(first + index) ?? pending;
  });
}

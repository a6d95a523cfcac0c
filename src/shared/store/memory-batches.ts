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
import {
  type BatchLimits,
  type BatchStore,
  chunksOf,
  erasedHead,
  PERMIT_MS,
  sizeOf,
  WANTED_MS,
} from './batch-store.ts';

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
type Turns = {
  open: Map<string, number>;
  wanted: Map<string, { at: number; limit: number }>;
  served: Map<string, number>;
};

const casesSchema = z.array(caseSchema);
const isOver = ({ state }: Kept) => state === 'finished' || state === 'cancelled';

/** Batches in this process, for the embedded queue. */
export function createMemoryBatches({ seconds, bytes: maxBytes, running }: BatchLimits): BatchStore {
  const kept = new Map<string, Kept>(); // in order of arrival
  const known = new Set<string>();
  const clients = new Map<string, Turns>();
  let grants = 0;

  const total = () => [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  function makeRoom(wanted: number): boolean {
    for (const [id, entry] of kept) {
      const tooOld = entry.batch.createdAt + seconds * 1000 < Date.now();
      if (!isOver(entry) || (!tooOld && total() + wanted <= maxBytes)) continue;
      kept.delete(id);
    }
    return total() + wanted <= maxBytes;
  }

  return {
    async create(batch, cases) {
      if ([...kept.values()].filter((entry) => !isOver(entry)).length >= running) return 'too-many';
      const chunks = chunksOf(cases);
      const bytes = sizeOf(batch, chunks);
      if (!makeRoom(bytes)) return 'no-room';
      const counts = batch.targets.map(() => ({ ...noCounts(), pending: batch.cases }));
      const empty = { sent: new Map(), heads: new Map(), details: new Map() };
      kept.set(batch.batchId, { batch, chunks, state: 'running', endedAt: null, counts, ...empty, bytes });
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
    async settle(batchId, { n, targetIndex, head, detail }) {
      const entry = kept.get(batchId);
      const counts = entry?.counts[targetIndex];
      if (!entry || !counts || entry.heads.has(n)) return false;
      entry.heads.set(n, head);
      counts[head.verdict]++;
      counts.pending--;
      const size = JSON.stringify([head, detail]).length;
      if (detail && makeRoom(size)) entry.details.set(n, detail);
      entry.bytes += entry.details.has(n) ? size : JSON.stringify(head).length;
      return true;
    },
    async heads(batchId, first, last) {
      const entry = kept.get(batchId);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
        const pending = itemHeadSchema.parse({ verdict: 'pending', claimBy: entry?.sent.get(first + index) ?? null });
        return entry?.heads.get(first + index) ?? pending;
      });
    },
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
    async acquire({ client, batchId, mockId, limit }) {
      const now = Date.now();
      const turns: Turns = clients.get(client) ?? { open: new Map(), wanted: new Map(), served: new Map() };
      clients.set(client, turns);
      for (const [id, until] of turns.open) if (until <= now) turns.open.delete(id);
      for (const [id, { at }] of turns.wanted) if (at + WANTED_MS <= now) turns.wanted.delete(id);
      turns.wanted.set(batchId, { at: now, limit });
      const servedAt = (id: string) => turns.served.get(id) ?? 0;
      const isNext = [...turns.wanted].every(
        ([id, other]) => id === batchId || other.limit <= turns.open.size || servedAt(id) >= servedAt(batchId),
      );
      if (turns.open.size >= limit || !isNext) return false;
      turns.open.set(mockId, now + PERMIT_MS);
      turns.wanted.delete(batchId);
      turns.served.set(batchId, ++grants);
      return true;
    },
    async release({ client, mockId }) {
      clients.get(client)?.open.delete(mockId);
    },
    bytes: async () => total(),
  };
}

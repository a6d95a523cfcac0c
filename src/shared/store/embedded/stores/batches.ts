import { z } from 'zod';
import { type ItemHead, itemDetailSchema, itemHeadSchema } from '../../../cases/batch.ts';
import { caseSchema } from '../../../cases/case.ts';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { time } from '../../../ports/time.ts';
import { type BatchLimits, type BatchStore, chunksOf, erasedHead } from '../../batches/batch-store.ts';
import {
  type BatchInfo,
  chunkKey,
  type Item,
  infoEntry,
  itemKey,
  type Kept,
  keysOf,
  loadFrom,
  newEntry,
} from './batch-entries.ts';
import { createEmbeddedSlots } from './slots.ts';
import type { Table } from './tables.ts';

const casesSchema = z.array(caseSchema);
const isOver = ({ state }: BatchInfo) => state === 'finished' || state === 'cancelled';
/** The embedded batch store: heads in memory, cases and details in the table. */
export function createEmbeddedBatches(limits: BatchLimits, table: Table): BatchStore {
  const kept = loadFrom(table); // in order of arrival
  const known = new Set(kept.keys());

  const makeRoom = async (wanted: number): Promise<boolean> => {
    const gone = dropOld(kept, wanted, limits);
    const fits = totalOf(kept) + wanted <= limits.bytes;
    for (const entry of gone) await table.remove(keysOf(entry));
    return fits;
  };

  return {
    async create(batch, cases, maxOfKey = Number.MAX_SAFE_INTEGER) {
      const chunks = chunksOf(cases);
      const entry = newEntry(batch, chunks);
      const fits = await makeRoom(entry.bytes);
      if (known.has(batch.batchId)) return 'created';
      const running = [...kept.values()].filter((other) => !isOver(other));
      if (running.length >= limits.running) return 'too-many';
      const { keyName } = batch;
      const ofKey = running.filter((other) => other.batch.keyName === keyName).length;
      if (keyName !== null && ofKey >= maxOfKey) return 'too-many-of-key';
      if (!fits) return 'no-room';
      kept.set(batch.batchId, entry);
      known.add(batch.batchId);
      const texts = chunks.map((text, chunk) => ({ key: chunkKey(batch.batchId, chunk), text }));
      await table.put([...texts, infoEntry(entry)]);
      return 'created';
    },
    async read(batchId) {
      await makeRoom(0);
      const entry = kept.get(batchId);
      if (!entry) return known.has(batchId) ? 'gone' : null;
      const { batch, state, endedAt, counts, why } = entry;
      return table.sure({ batch, progress: { state, endedAt, counts: structuredClone(counts), why } });
    },
    list: async () => [...kept.keys()].reverse(),
    running: async () => [...kept].filter(([, entry]) => !isOver(entry)).map(([id]) => id),
    cases: async (batchId, chunk) => casesSchema.parse(parseJson((await table.read(chunkKey(batchId, chunk))) ?? '[]')),
    ...itemsOf({ kept, table, makeRoom }),
    async change(batchId, from, to, why) {
      const entry = kept.get(batchId);
      if (!entry || !from.includes(entry.state)) return false;
      entry.state = to;
      entry.why = why ?? entry.why;
      if (isOver(entry)) entry.endedAt = time.now();
      await table.put([infoEntry(entry)]);
      return true;
    },
    ...createEmbeddedSlots(),
    bytes: async () => totalOf(kept),
  };
}

type Parts = { kept: ReadonlyMap<string, Kept>; table: Table; makeRoom: (wanted: number) => Promise<boolean> };

/** The endings of the items of each batch. */
function itemsOf({
  kept,
  table,
  makeRoom,
}: Parts): Pick<BatchStore, 'begin' | 'settle' | 'heads' | 'detail' | 'erase'> {
  const putItem = ({ batch: { batchId } }: Kept, item: Item, text?: string) =>
    table.put([{ key: itemKey(batchId, item.n), info: JSON.stringify(item), ...(text !== undefined && { text }) }]);

  return {
    async begin(batchId, n, claimBy) {
      const entry = kept.get(batchId);
      const noted = entry?.items.get(n);
      if (noted?.head) return null;
      if (!entry || noted) return noted?.claimBy ?? claimBy;
      const item = { n, claimBy, size: 0 };
      entry.items.set(n, item);
      await putItem(entry, item);
      return claimBy;
    },
    async settle(batchId, { n, targetIndex, head, detail, unlessBegun = false }) {
      const entry = kept.get(batchId);
      const counts = entry?.counts[targetIndex];
      const before = entry?.items.get(n);
      if (!entry || !counts || before?.head || (unlessBegun && before)) return false;
      counts[head.verdict]++;
      counts.pending--;
      const item: Item = { ...before, n, targetIndex, head, size: JSON.stringify(head).length };
      entry.items.set(n, item);
      const text = detail === null ? undefined : JSON.stringify(detail);
      const fits = text !== undefined && (await makeRoom(item.size + text.length));
      if (fits) item.size += text.length;
      entry.itemBytes += item.size;
      await putItem(entry, item, fits ? text : undefined);
      return true;
    },
    heads: (batchId, first, last) => table.sure(headsOf(kept.get(batchId), first, last)),
    async detail(batchId, n) {
      const text = await table.read(itemKey(batchId, n));
      return text ? itemDetailSchema.parse(parseJson(text)) : null;
    },
    async erase(batchId, { n, chunk, cases }) {
      const entry = kept.get(batchId);
      if (!entry) return;
      const item = entry.items.get(n);
      if (item?.head) item.head = erasedHead(item.head);
      await table.put([{ key: chunkKey(batchId, chunk), text: JSON.stringify(cases) }]);
      if (item) await putItem(entry, item, '');
    },
  };
}

const totalOf = (kept: Map<string, Kept>) =>
  [...kept.values()].reduce((sum, { bytes, itemBytes }) => sum + bytes + itemBytes, 0);

/** Evicts ended batches, oldest first: expired ones, and as many as it takes to make room. */
function dropOld(kept: Map<string, Kept>, wanted: number, { seconds, bytes }: BatchLimits): Kept[] {
  const gone: Kept[] = [];
  for (const [id, entry] of kept) {
    const tooOld = entry.batch.createdAt + seconds * 1000 < time.now();
    if (!isOver(entry) || (!tooOld && totalOf(kept) + wanted <= bytes)) continue;
    kept.delete(id);
    gone.push(entry);
  }
  return gone;
}

function headsOf(entry: Kept | undefined, first: number, last: number): ItemHead[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const item = entry?.items.get(first + index);
    return item?.head ?? itemHeadSchema.parse({ verdict: 'pending', claimBy: item?.claimBy ?? null });
  });
}

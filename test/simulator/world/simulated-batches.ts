import {
  type Batch,
  type BatchState,
  type ItemDetail,
  type ItemHead,
  itemHeadSchema,
  noCounts,
} from '../../../src/shared/cases/batch.ts';
import type { Case } from '../../../src/shared/cases/case.ts';
import {
  type BatchLimits,
  type BatchStore,
  CASES_PER_CHUNK,
  erasedHead,
  type SettledItem,
  SLOT_MS,
  WANTED_MS,
} from '../../../src/shared/store/batches/batch-store.ts';
import type { Ask } from './gate.ts';

type StoredItem = { claimBy: number | null; head: ItemHead | null; detail: ItemDetail | null };
type StoredBatch = {
  batch: Batch;
  cases: Case[];
  state: BatchState;
  endedAt: number | null;
  items: Map<number, StoredItem>;
  counts: ReturnType<typeof noCounts>[];
};
/** Who has slots at a client and until when, which batches wait for one, and in which order they were served. */
type Turns = {
  open: Map<string, number>;
  wanted: Map<string, { at: number; limit: number }>;
  served: Map<string, number>;
  grants: number;
};
export type BatchesData = { all: Map<string, StoredBatch>; turns: Map<string, Turns> };

export const noBatches = (): BatchesData => ({ all: new Map(), turns: new Map() });

export type SimulatedBatches = ReturnType<typeof createBatches>;
type Request = Parameters<BatchStore['acquire']>[0];

const isOver = ({ state }: StoredBatch) => state === 'finished' || state === 'cancelled';

/** Batches in the simulated store, as the scripts of `redis-batches` keep them. There is always room. */
export function createBatches(world: { data: { batches: BatchesData }; now: () => number }) {
  const all = () => world.data.batches.all;

  return {
    create(batch: Batch, cases: Case[], { running, maxOfKey }: { running: number; maxOfKey: number }) {
      if (all().has(batch.batchId)) return 'created';
      const others = [...all().values()].filter((other) => !isOver(other));
      if (others.length >= running) return 'too-many';
      const { keyName, batchId } = batch;
      const ofKey = others.filter((other) => other.batch.keyName === keyName).length;
      if (keyName !== null && ofKey >= maxOfKey) return 'too-many-of-key';
      const counts = batch.targets.map(() => ({ ...noCounts(), pending: batch.cases }));
      all().set(batchId, { batch, cases, state: 'running', endedAt: null, items: new Map(), counts });
      return 'created';
    },
    get: (batchId: string) => all().get(batchId),
    ids: () => [...all().keys()].reverse(),
    running: () => [...all()].filter(([, one]) => !isOver(one)).map(([id]) => id),
    begin(batchId: string, n: number, claimBy: number): number | null {
      const items = all().get(batchId)?.items;
      const item = items?.get(n) ?? { claimBy: null, head: null, detail: null };
      if (item.head) return null;
      items?.set(n, { ...item, claimBy: item.claimBy ?? claimBy });
      return item.claimBy ?? claimBy;
    },
    settle(batchId: string, { n, targetIndex, head, detail, unlessBegun = false }: SettledItem): boolean {
      const one = all().get(batchId);
      const counts = one?.counts[targetIndex];
      const before = one?.items.get(n);
      if (!one || !counts || before?.head || (unlessBegun && before)) return false;
      counts[head.verdict]++;
      counts.pending--;
      one.items.set(n, { claimBy: before?.claimBy ?? null, head, detail });
      return true;
    },
    head(batchId: string, n: number): ItemHead {
      const item = all().get(batchId)?.items.get(n);
      return item?.head ?? itemHeadSchema.parse({ verdict: 'pending', claimBy: item?.claimBy ?? null });
    },
    erase(batchId: string, { n, chunk, cases }: { n: number; chunk: number; cases: Case[] }): void {
      const one = all().get(batchId);
      one?.cases.splice(chunk * CASES_PER_CHUNK, CASES_PER_CHUNK, ...cases);
      const item = one?.items.get(n);
      if (item?.head) one?.items.set(n, { ...item, head: erasedHead(item.head), detail: null });
    },
    change(batchId: string, from: readonly BatchState[], to: BatchState): boolean {
      const one = all().get(batchId);
      if (!one || !from.includes(one.state)) return false;
      one.state = to;
      if (isOver(one)) one.endedAt = world.now();
      return true;
    },
    ...createTurns(world),
  };
}

function createTurns(world: { data: { batches: BatchesData }; now: () => number }) {
  function turnsAt(client: string): Turns {
    const { turns } = world.data.batches;
    const known = turns.get(client) ?? { open: new Map(), wanted: new Map(), served: new Map(), grants: 0 };
    turns.set(client, known);
    return known;
  }

  return {
    acquire({ client, batchId, mockId, limit }: Request): boolean {
      const now = world.now();
      const turns = turnsAt(client);
      for (const [id, until] of turns.open) if (until <= now) turns.open.delete(id);
      for (const [id, { at }] of turns.wanted) if (at + WANTED_MS <= now) turns.wanted.delete(id);
      turns.wanted.set(batchId, { at: now, limit });
      if (turns.open.has(mockId)) return true;
      const served = (id: string) => turns.served.get(id) ?? 0;
      const goesFirst = ([id, other]: [string, { limit: number }]) =>
        id !== batchId && other.limit > turns.open.size && served(id) < served(batchId);
      if (turns.open.size >= limit || [...turns.wanted].some(goesFirst)) return false;
      turns.open.set(mockId, now + SLOT_MS);
      turns.wanted.delete(batchId);
      turns.served.set(batchId, ++turns.grants);
      return true;
    },
    renew(client: string, mockIds: readonly string[]): void {
      for (const id of mockIds) turnsAt(client).open.set(id, world.now() + SLOT_MS);
    },
    release({ client, mockId }: Pick<Request, 'client' | 'mockId'>): void {
      turnsAt(client).open.delete(mockId);
    },
  };
}

/** The batches as one simulated process sees them. */
export function openSimulatedBatches(ask: Ask<{ batches: SimulatedBatches }>, { running }: BatchLimits): BatchStore {
  const on = (batchId: string) => [`batch:${batchId}`];
  const both = (batchId: string) => [...on(batchId), 'batches'];
  return {
    create: (batch, cases, maxOfKey = Number.MAX_SAFE_INTEGER) =>
      ask('batch.create', both(batch.batchId), 'writes', ({ batches }) =>
        batches.create(batch, cases, { running, maxOfKey }),
      ),
    read: (batchId) =>
      ask('batch.read', on(batchId), 'reads', ({ batches }) => {
        const found = batches.get(batchId);
        if (!found) return null;
        const { batch, state, endedAt, counts } = found;
        return { batch, progress: { state, endedAt, counts: structuredClone(counts) } };
      }),
    list: () => ask('batch.list', ['batches'], 'reads', ({ batches }) => batches.ids()),
    running: () => ask('batch.running', ['batches'], 'reads', ({ batches }) => batches.running()),
    cases: (batchId, chunk) =>
      ask('batch.cases', on(batchId), 'reads', ({ batches }) =>
        (batches.get(batchId)?.cases ?? []).slice(chunk * CASES_PER_CHUNK, (chunk + 1) * CASES_PER_CHUNK),
      ),
    begin: (batchId, n, claimBy) =>
      ask('batch.begin', on(batchId), 'writes', ({ batches }) => batches.begin(batchId, n, claimBy)),
    settle: (batchId, item) =>
      ask('batch.settle', on(batchId), 'writes', ({ batches }) => batches.settle(batchId, item)),
    heads: (batchId, first, last) =>
      ask('batch.heads', on(batchId), 'reads', ({ batches }) =>
        Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => batches.head(batchId, first + index)),
      ),
    detail: (batchId, n) =>
      ask('batch.detail', on(batchId), 'reads', ({ batches }) => batches.get(batchId)?.items.get(n)?.detail ?? null),
    erase: (batchId, item) => ask('batch.erase', on(batchId), 'writes', ({ batches }) => batches.erase(batchId, item)),
    change: (batchId, from, to) =>
      ask('batch.change', both(batchId), 'writes', ({ batches }) => batches.change(batchId, from, to)),
    acquire: (request) =>
      ask('batch.acquire', [`turns:${request.client}`], 'writes', ({ batches }) => batches.acquire(request)),
    renew: (client, mockIds) =>
      ask('batch.renew', [`turns:${client}`], 'writes', ({ batches }) => batches.renew(client, mockIds)),
    release: (held) => ask('batch.release', [`turns:${held.client}`], 'writes', ({ batches }) => batches.release(held)),
    bytes: () => Promise.reject(new Error('how much is kept is not simulated')),
  };
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { getCoverage, getItem, getItems, type Item } from '../api/batch-items.ts';
import { type Batch, isOver, listBatches } from '../api/batches.ts';
import { type FollowedBatch, followBatch } from '../api/follow-batch.ts';
import { Refused } from '../api/request.ts';
import { isSlip, randomKey } from '../run/calls.ts';
import { goTo } from '../state/location.ts';

const LIST_EVERY_MS = 5000;
const PAGE = 1000;

/** A batch as it goes on. Null while nothing is known of it. */
export function useBatch(batchId: string | null): FollowedBatch | null {
  const queries = useQueryClient();
  const [seen, setSeen] = useState<{ batchId: string; followed: FollowedBatch } | null>(null);
  useEffect(() => {
    if (batchId === null) return;
    return followBatch(batchId, (followed) => setSeen({ batchId, followed }));
  }, [batchId]);
  const followed = seen?.batchId === batchId ? seen.followed : null;
  const state = followed?.kind === 'known' ? followed.batch.state : null;
  useEffect(() => {
    if (state !== null) void queries.invalidateQueries({ queryKey: ['batches'] });
  }, [state, queries]);
  return followed;
}

type Rule = { app: string | null; ruleId: string | null; confId: string | null };

/** The batches of a rule, the newest first. */
export function useBatches({ app, ruleId, confId }: Rule) {
  return useQuery({
    queryKey: ['batches', app, ruleId, confId],
    queryFn: async ({ signal }) => {
      const batches = await listBatches(app ?? '', ruleId, signal);
      return batches.filter((batch) => batch.confId === confId && batch.ruleId === ruleId);
    },
    enabled: app !== null,
    refetchInterval: LIST_EVERY_MS,
  });
}

/** One item whole. One that waits for its run is asked for again. */
export function useItem(batchId: string | null, n: string | null) {
  return useQuery({
    queryKey: ['batch-item', batchId, n],
    queryFn: ({ signal }) => getItem(batchId ?? '', n ?? '', signal),
    enabled: batchId !== null && n !== null,
    refetchInterval: ({ state }) => (state.data?.verdict === 'pending' || state.error ? 1000 : false),
  });
}

/** How many cases reached each node, on one target or, for null, on any. */
export function useCoverage(batch: Batch | null, target: string | null) {
  const settled = batch === null ? 0 : batch.items - batch.counts.pending;
  return useQuery({
    // A running batch is read anew with every hundred items, and when it is over.
    queryKey: ['coverage', batch?.batchId, target, batch && isOver(batch) ? 'over' : Math.floor(settled / 100)],
    queryFn: ({ signal }) => getCoverage(batch?.batchId ?? '', target, signal),
    enabled: batch !== null,
    placeholderData: (previous) => previous,
  });
}

const AGAIN_AFTER_MS = 1000;
const MAX_KEPT = 6;

/** Items of batches that are over do not change any more. */
const ended = new Map<string, readonly Item[]>();
const none: readonly Item[] = [];

/** Every item of a batch in their order; pages with items that wait for their run are asked for again until there are none. */
export function useBatchItems(batchId: string | null): readonly Item[] {
  const [seen, setSeen] = useState<{ batchId: string; items: readonly Item[] } | null>(null);
  useEffect(() => {
    if (batchId === null) return;
    const known = ended.get(batchId);
    if (known) return setSeen({ batchId, items: known });
    const stopped = new AbortController();
    void load(batchId, stopped.signal, (items) => setSeen({ batchId, items }));
    return () => stopped.abort();
  }, [batchId]);
  return batchId !== null && seen?.batchId === batchId ? seen.items : none;
}

async function load(batchId: string, signal: AbortSignal, show: (items: Item[]) => void): Promise<void> {
  const pages: Item[][] = [];
  while (!signal.aborted) {
    const isComplete = await loadOnce(batchId, { pages, signal }).catch(() => false);
    if (signal.aborted) return;
    const items = pages.flat();
    show(items);
    if (isComplete) return keep(batchId, items);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
  }
}

/** Reads what is new. The items of a batch are run in their order, so that behind a page without any result there is none. */
async function loadOnce(
  batchId: string,
  { pages, signal }: { pages: Item[][]; signal: AbortSignal },
): Promise<boolean> {
  for (let page = 0; ; page++) {
    const known = pages[page];
    if (known?.every(({ verdict }) => verdict !== 'pending')) {
      if (page === pages.length - 1) return true;
      continue;
    }
    const { items, next } = await getItems(batchId, { after: page * PAGE, limit: PAGE, details: true }, signal);
    pages[page] = items;
    if (next === null) return pages.flat().every(({ verdict }) => verdict !== 'pending');
    if (known && items.every(({ verdict }) => verdict === 'pending')) return false;
  }
}

function keep(batchId: string, items: readonly Item[]): void {
  ended.set(batchId, items);
  for (const oldest of ended.keys()) {
    if (ended.size <= MAX_KEPT) break;
    ended.delete(oldest);
  }
}

/** Begins batches and goes to them. `what`: the kind of batch, to know a second press by. A call that was not answered is sent again under its key, so that nothing runs twice. */
export function useStart(what = 'batch') {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const start = async (begin: (key: string) => Promise<Batch>) => {
    if (busy || isSlip(what)) return;
    setBusy(true);
    setError(null);
    const key = randomKey();
    try {
      const again = (failure: unknown) => (failure instanceof Refused ? Promise.reject(failure) : begin(key));
      const { batchId } = await begin(key).catch(again);
      goTo({ batch: batchId, item: null, caseName: null }, { push: true });
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return { busy, error, start, forget: () => setError(null) };
}

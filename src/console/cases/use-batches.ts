import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { getCoverage, getItem, getItems, type Item } from '../api/batch-items.ts';
import { type Batch, type FollowedBatch, followBatch, isOver, listBatches } from '../api/batches.ts';
import { Refused } from '../api/request.ts';
import { isSlip, randomKey } from '../run/calls.ts';
import { goTo } from '../state/location.ts';

const LIST_EVERY_MS = 5000;
const AGAIN_AFTER_MS = 1000;
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
  const state = followed?.kind === 'known' ? followed.now.state : null;
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
    refetchInterval: ({ state }) => (state.data?.verdict === 'pending' || state.error ? AGAIN_AFTER_MS : false),
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

type Loaded = { pages: readonly (readonly Item[])[]; isComplete: boolean };
const none: readonly Item[] = [];

/** Every item of a batch in their order; pages with items that wait for their run are asked for again until there are none. */
export function useBatchItems(batchId: string | null): readonly Item[] {
  const queries = useQueryClient();
  const queryKey = ['batch-items', batchId];
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => load(batchId ?? '', queries.getQueryData<Loaded>(queryKey)?.pages ?? [], signal),
    enabled: batchId !== null,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => (state.data?.isComplete ? false : AGAIN_AFTER_MS),
    structuralSharing: false,
  });
  return useMemo(() => data?.pages.flat() ?? none, [data]);
}

const isWaiting = ({ verdict }: Item) => verdict === 'pending';

/**
 * Reads what is new, up to a page that cannot be read. The items of a batch are run in their order, so that behind a page without any result there
 * is none.
 */
async function load(batchId: string, known: Loaded['pages'], signal: AbortSignal): Promise<Loaded> {
  const pages = [...known];
  for (let page = 0; ; page++) {
    const before = known[page];
    if (before && !before.some(isWaiting) && page < known.length - 1) continue;
    const wanted = { after: page * PAGE, limit: PAGE, details: true };
    const read = await getItems(batchId, wanted, signal).catch(() => null);
    if (read === null) return { pages, isComplete: false };
    const { items, next } = read;
    pages[page] = items;
    if (next === null) return { pages, isComplete: !pages.flat().some(isWaiting) };
    if (before && items.every(isWaiting)) return { pages, isComplete: false };
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

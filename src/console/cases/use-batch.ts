import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { getCoverage, getItem, getItems } from '../api/batch-items.ts';
import { type Batch, isOver, listBatches } from '../api/batches.ts';
import { type FollowedBatch, followBatch } from '../api/follow-batch.ts';

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

/** The cases of an ended batch that came out differently on one target than on another, by their place from 0. */
export function useDiffering(batch: Batch | null) {
  const targets = batch?.targets.length ?? 0;
  return useQuery({
    queryKey: ['differing', batch?.batchId],
    queryFn: async ({ signal }) => {
      const cases = new Set<number>();
      for (let after: number | null = 0; after !== null; ) {
        const page = await getItems(batch?.batchId ?? '', { after, limit: PAGE, differs: true }, signal);
        for (const { n } of page.items) cases.add(Math.floor((n - 1) / targets));
        after = page.next;
      }
      return cases;
    },
    enabled: batch !== null && targets > 1 && isOver(batch),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

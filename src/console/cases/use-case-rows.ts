import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Item } from '../api/batch-items.ts';
import { type Batch, getBatch } from '../api/batches.ts';
import type { SavedCase } from '../api/cases.ts';
import { versionRan } from '../run/rules-of-run.ts';
import type { Place } from '../state/location.ts';
import { type CaseRow, rowsOf, withBefore, withRepeated, withSaved } from './case-rows.ts';
import { useBatches, useBatchItems, useDiffering } from './use-batches.ts';

type What = { place: Place; batch: Batch | null; saved: readonly SavedCase[] };
type Rows = { rows: CaseRow[]; targets: string[]; before: Batch | null; releases: Releases };

/**
 * The cases of a batch as rows. A batch that repeats a part of another is laid over that one, so that each case has its last
 * verdict; what the batch before came to stands beside it.
 */
export function useCaseRows({ place, batch, saved }: What): Rows {
  const batchId = batch?.batchId ?? null;
  const repeated = useQuery({
    queryKey: ['batch', batch?.from],
    queryFn: ({ signal }) => getBatch(batch?.from ?? '', signal),
    enabled: typeof batch?.from === 'string',
    staleTime: Number.POSITIVE_INFINITY,
  });
  const base = batch?.from == null ? null : (repeated.data ?? null);
  const before = useBefore(place, base ?? batch);
  const items = useBatchItems(batchId);
  const baseItems = useBatchItems(base?.batchId ?? null);
  const beforeItems = useBatchItems(before?.batchId ?? null);
  const differing = useDiffering(batch);
  return useMemo(() => {
    const targets = batch?.targets.map(({ target }) => target) ?? [];
    let rows = batch === null ? [] : rowsOf({ batchId: batch.batchId, targets, items });
    if (differing.data) rows = rows.map((row) => ({ ...row, differs: differing.data.has(row.place) }));
    if (base !== null && baseItems.length > 0)
      rows = withRepeated(rowsOf({ batchId: base.batchId, targets, items: baseItems }), rows);
    if (before !== null && beforeItems.length > 0)
      rows = withBefore(rows, targets, { batchId: before.batchId, targets, items: beforeItems });
    const releases = releasesOf(beforeItems, items);
    return {
      rows: withSaved(rows, saved, targets.length),
      targets,
      before: beforeItems.length > 0 ? before : null,
      releases,
    };
  }, [batch, items, differing.data, base, baseItems, before, beforeItems, saved]);
}

/** The batch of the saved cases before this one; one that repeats a part of another is none. */
function useBefore(place: Place, batch: Batch | null): Batch | null {
  const batches = useBatches(place);
  if (batch === null || batch.etag === null) return null;
  const earlier = batches.data?.filter(
    ({ etag, from, createdAt, state }) =>
      etag !== null && from === null && createdAt < batch.createdAt && state === 'finished',
  );
  return earlier?.[0] ?? null;
}

/** The versions of the rules that a batch ran on and that the one before ran on; null where they are the same, or not known. */
export type Releases = { before: string; now: string } | null;

export function releasesOf(before: readonly Item[], now: readonly Item[]): Releases {
  const [earlier, later] = [rulesIn(before), rulesIn(now)];
  if (earlier.size === 0 || later.size === 0) return null;
  const isSame = earlier.size === later.size && [...earlier.keys()].every((digest) => later.has(digest));
  return isSame ? null : { before: versionsIn(earlier), now: versionsIn(later) };
}

/** The version by the digest of the rules: one version may have had several. */
function rulesIn(items: readonly Item[]): Map<string, string> {
  return new Map(items.flatMap(({ rules }) => (rules?.digest ? [[rules.digest, versionRan(rules) ?? '?']] : [])));
}

const versionsIn = (rules: ReadonlyMap<string, string>) => [...new Set(rules.values())].join(', ');

import { type Batch, type ItemHead, itemNumber, placeOfItem } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import type { Coverage } from '../../shared/contract/batches.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import type { RanTo, Verdict } from '../../shared/contract/verdict.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { ItemWithData } from '../../shared/reports/reported.ts';
import { type BatchStore, CASES_PER_CHUNK } from '../../shared/store/batches/batch-store.ts';
import { type Condition, holds } from '../executions/search/search-conditions.ts';
import { type ShownItem, shownCase, shownItem } from './shown-item.ts';
import { allCases, allHeads, type NumberedHead } from './whole-batch.ts';

/** Characters of data in one report. */
const REPORTED_DATA = 32 * 1024 * 1024;
const DETAILS_AT_ONCE = 100;

/** In the place of a case that was erased meanwhile. */
const GONE: Case = { name: '', input: '{}', ts: null, tags: [], skip: false, line: null, expect: null };

type ShownNumbered = ShownItem & { n: number };
type Parts = { store: BatchStore; privacy: Privacy };

export type ItemFilter = {
  target?: string | undefined;
  verdict?: Verdict | undefined;
  outcome?: RanTo | undefined;
  /** Conditions on the input, which must all hold. */
  where: readonly Condition[];
  /** Includes the findings of each. */
  details?: boolean;
  after: number;
  limit: number;
};

/** A page of items in their order, and where the next one begins. */
export async function items(
  batch: Batch,
  { after, limit, details: withDetails = false, ...filter }: ItemFilter,
  { store, privacy }: Parts,
): Promise<{ items: ShownNumbered[]; next: number | null }> {
  const heads = await allHeads(batch, store);
  const isWanted = await wantedItems(batch, { filter, store, privacy });
  const wanted = heads.filter(({ n, head }) => n > after && isWanted(n, head));
  const page = wanted.slice(0, limit);
  const chunks = new Map<number, Promise<Case[]>>();
  const items = await Promise.all(
    page.map(async ({ n, head }) => {
      const { caseIndex } = placeOfItem(batch, n);
      const chunk = Math.floor(caseIndex / CASES_PER_CHUNK);
      const cases = chunks.get(chunk) ?? store.cases(batch.batchId, chunk);
      chunks.set(chunk, cases);
      const one = (await cases)[caseIndex % CASES_PER_CHUNK] ?? GONE;
      const detail = withDetails ? await detailOf(batch, { n, head }, store) : null;
      return { n, ...shownItem({ one, head, detail }, { app: batch.app, privacy }) };
    }),
  );
  return { items, next: wanted.length > limit ? (page.at(-1)?.n ?? null) : null };
}

type Wanted = { filter: Omit<ItemFilter, 'after' | 'limit'> } & Parts;

/** The test whether a list has an item. Inputs are read only for conditions on them, without the fields that are hidden. */
async function wantedItems(
  batch: Batch,
  { filter: { target, verdict, outcome, where }, store, privacy }: Wanted,
): Promise<(n: number, head: ItemHead) => boolean> {
  const cases = where.length > 0 ? await allCases(batch, store) : [];
  const fits = cases.map((one) => {
    const read = parseExact(shownCase(one, { app: batch.app, privacy }).input);
    return where.every((condition) => holds(condition, read));
  });
  return (n, head) => {
    const { caseIndex, targetIndex } = placeOfItem(batch, n);
    return (
      (verdict === undefined || head.verdict === verdict) &&
      (outcome === undefined || head.outcome === outcome) &&
      (target === undefined || batch.targets[targetIndex] === target) &&
      (where.length === 0 || fits[caseIndex] === true)
    );
  };
}

/** One item whole, or null when the batch has no such number. */
export async function item(batch: Batch, n: number, { store, privacy }: Parts) {
  if (n < 1 || n > batch.cases * batch.targets.length) return null;
  const { caseIndex } = placeOfItem(batch, n);
  const cases = await store.cases(batch.batchId, Math.floor(caseIndex / CASES_PER_CHUNK));
  const one = cases[caseIndex % CASES_PER_CHUNK];
  const [head] = await store.heads(batch.batchId, n, n);
  if (!one || !head) return null;
  const detail = await store.detail(batch.batchId, n);
  return { n, ...shownItem({ one, head, detail }, { app: batch.app, privacy }) };
}

/** Every item with what reports need, target by target. Beyond `REPORTED_DATA` the data of further items is left out and marked as such. */
export async function reported(batch: Batch, { store, privacy }: Parts): Promise<ItemWithData[]> {
  const [cases, heads] = [await allCases(batch, store), await allHeads(batch, store)];
  const places = batch.targets.flatMap((target, targetIndex) =>
    cases.flatMap((one, caseIndex) => {
      const n = itemNumber(batch, caseIndex, targetIndex);
      const head = heads[n - 1]?.head;
      return head ? [{ n, head, one, target, mockId: itemMockId(batch.batchId, caseIndex, target) }] : [];
    }),
  );
  const items: ItemWithData[] = [];
  let room = REPORTED_DATA;
  for (let first = 0; first < places.length; first += DETAILS_AT_ONCE) {
    const page = places.slice(first, first + DETAILS_AT_ONCE);
    const details = await Promise.all(page.map(({ n, head }) => detailOf(batch, { n, head }, store)));
    for (const [index, { n, head, one, target, mockId }] of page.entries()) {
      const shown = shownItem({ one, head, detail: details[index] ?? null }, { app: batch.app, privacy });
      const { data = null, cut = false, differences = [], notChecked = [] } = shown.detail ?? {};
      room -= data?.length ?? 0;
      const kept = room >= 0 ? { changed: data, cut } : { changed: null, cut: cut || data !== null };
      items.push({
        ...shown.head,
        n,
        name: shown.one.name,
        line: one.line,
        target,
        mockId,
        differences,
        notChecked,
        ...kept,
      });
    }
  }
  return items;
}

function detailOf({ batchId }: Batch, { n, head }: NumberedHead, store: BatchStore) {
  return head.verdict === 'pending' || head.verdict === 'skipped' ? null : store.detail(batchId, n);
}

/**
 * Of each node in a trace, on one target or on any: in how many cases it ran, and in how many it came to each state. Outside its time window, or
 * behind a condition that was FALSE, it did not run.
 */
export async function coverage(batch: Batch, target: string | undefined, store: BatchStore): Promise<Coverage> {
  return coverageOf(batch, await allHeads(batch, store), { target, store });
}

/** The same of heads that were read already. */
export async function coverageOf(
  batch: Batch,
  heads: readonly NumberedHead[],
  { target, store }: { target: string | undefined; store: BatchStore },
): Promise<Coverage> {
  const states = new Map<number, Map<string, Set<string>>>();
  let unknown = 0;
  for (const { n, head } of heads) {
    const { caseIndex, targetIndex } = placeOfItem(batch, n);
    if (target !== undefined && batch.targets[targetIndex] !== target) continue;
    const detail = await detailOf(batch, { n, head }, store);
    if (detail === null) continue;
    if (!detail.nodes) unknown++;
    const ofCase = states.get(caseIndex) ?? new Map<string, Set<string>>();
    states.set(caseIndex, ofCase);
    for (const [id, found] of Object.entries(detail.nodes ?? {}))
      ofCase.set(id, new Set([...(ofCase.get(id) ?? []), ...found]));
  }
  const nodes: Coverage['nodes'] = {};
  for (const [id, found] of [...states.values()].flatMap((ofCase) => [...ofCase])) {
    const node = nodes[id] ?? { ran: 0, states: {} };
    nodes[id] = node;
    if ([...found].some((state) => state !== 'OUT_OF_TIME' && state !== 'REJECTED')) node.ran++;
    for (const state of found) node.states[state] = (node.states[state] ?? 0) + 1;
  }
  return { cases: batch.cases, unknown, nodes };
}

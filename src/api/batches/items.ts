import { type Batch, type ItemHead, placeOfItem } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import type { BatchReport, Coverage } from '../../shared/contract/batches.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import type { RanTo, Verdict } from '../../shared/contract/verdict.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { type BatchStore, CASES_PER_CHUNK } from '../../shared/store/batches/batch-store.ts';
import { type Condition, holds } from '../executions/search/search-conditions.ts';
import { itemBody, mockIdOf } from './batch-bodies.ts';
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
  { after, limit, details = false, ...filter }: ItemFilter,
  parts: Parts,
): Promise<{ items: ShownNumbered[]; next: number | null }> {
  const isWanted = await wantedItems(batch, { filter, ...parts });
  const heads = await allHeads(batch, parts.store);
  const wanted = heads.filter(({ n, head }) => n > after && isWanted(n, head));
  const page = wanted.slice(0, limit);
  const next = wanted.length > limit ? (page.at(-1)?.n ?? null) : null;
  return { items: await shown(batch, page, { ...parts, details }), next };
}

/** Items as they may be shown, with `details` also what is kept of their runs. */
async function shown(
  batch: Batch,
  heads: readonly NumberedHead[],
  { store, privacy, details }: Parts & { details: boolean },
): Promise<ShownNumbered[]> {
  const chunks = new Map<number, Promise<Case[]>>();
  return Promise.all(
    heads.map(async ({ n, head }) => {
      const { caseIndex } = placeOfItem(batch, n);
      const chunk = Math.floor(caseIndex / CASES_PER_CHUNK);
      const cases = chunks.get(chunk) ?? store.cases(batch.batchId, chunk);
      chunks.set(chunk, cases);
      const one = (await cases)[caseIndex % CASES_PER_CHUNK] ?? GONE;
      const detail = details ? await detailOf(batch, { n, head }, store) : null;
      return { n, ...shownItem({ one, head, detail }, { app: batch.app, privacy }) };
    }),
  );
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
export async function item(batch: Batch, n: number, parts: Parts): Promise<ShownNumbered | null> {
  if (n < 1 || n > batch.cases * batch.targets.length) return null;
  const heads = await parts.store.heads(batch.batchId, n, n);
  const numbered = heads.map((head) => ({ n, head }));
  return (await shown(batch, numbered, { ...parts, details: true }))[0] ?? null;
}

/** Every item with what reports need, target by target. Beyond `REPORTED_DATA` the data of further items is left out and marked as such. */
export async function reported(batch: Batch, parts: Parts): Promise<BatchReport['items']> {
  const targetOf = ({ n }: NumberedHead) => placeOfItem(batch, n).targetIndex;
  const heads = (await allHeads(batch, parts.store)).sort((a, b) => targetOf(a) - targetOf(b) || a.n - b.n);
  const items: BatchReport['items'] = [];
  let room = REPORTED_DATA;
  for (let first = 0; first < heads.length; first += DETAILS_AT_ONCE) {
    const page = heads.slice(first, first + DETAILS_AT_ONCE);
    for (const { detail, ...one } of await shown(batch, page, { ...parts, details: true })) {
      const { data = null, cut = false, differences = [], notChecked = [] } = detail ?? {};
      room -= data?.length ?? 0;
      const kept = room >= 0 ? { changed: data, cut } : { changed: null, cut: cut || data !== null };
      items.push({ ...itemBody(batch, one), mockId: mockIdOf(batch, one.n), differences, notChecked, ...kept });
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

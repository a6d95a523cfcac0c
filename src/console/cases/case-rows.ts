import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { changeGroups, changeId } from '../../shared/conclusions/words.ts';
import { valuesText, wordSearch } from '../../shared/contract/word-search.ts';
import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type JsonObject, readJson } from '../../shared/json-tree/read-json.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import type { Item, RanTo } from '../api/batch-items.ts';
import { type Batch, getBatch, type Verdict, verdicts } from '../api/batches.ts';
import type { SchemaField } from '../api/browse.ts';
import type { SavedCase } from '../api/cases.ts';
import { versionRan } from '../run/reading.ts';
import type { Place } from '../state/location.ts';
import { useBatches, useBatchItems } from './use-batches.ts';

/** The result of a case on one target, and its batch. */
export type Cell = { batchId: string; item: Item };

/** One case with a cell for each target; null where it was not run. */
export type CaseRow = {
  /** Its place, from 0. */
  place: number;
  name: string;
  cells: (Cell | null)[];
  /** The results of the batch before, target by target; null where it had no such case. */
  before: (Verdict | null)[];
  saved: SavedCase | null;
};

type Given = { batchId: string; targets: readonly string[]; items: readonly Item[] };

/** The items of a batch as one row for each case. */
export function rowsOf({ batchId, targets, items }: Given): CaseRow[] {
  const rows: CaseRow[] = [];
  for (const item of items) {
    const place = Math.floor((item.n - 1) / targets.length);
    const row = rows[place] ?? emptyRow(place, item.name, targets.length);
    rows[place] = row;
    row.cells[(item.n - 1) % targets.length] = { batchId, item };
  }
  return rows;
}

function emptyRow(place: number, name: string, targets: number): CaseRow {
  const none = () => Array.from({ length: targets }, () => null);
  return { place, name, cells: none(), before: none(), saved: null };
}

/** The same rows with what a repetition of some of them came to since. Only where names tell cases apart. */
export function withRepeated(rows: readonly CaseRow[], repeated: readonly CaseRow[]): CaseRow[] {
  const byName = byUniqueName(repeated);
  if (!byName || !byUniqueName(rows)) return [...repeated];
  return rows.map((row) => {
    const again = byName.get(row.name);
    if (!again) return row;
    const cells = row.cells.map((cell, index) => again.cells[index] ?? cell);
    return { ...row, cells };
  });
}

/** The rows with what the batch before came to. Its targets may be others. */
export function withBefore(rows: readonly CaseRow[], targets: readonly string[], before: Given): CaseRow[] {
  const verdictOf = new Map(before.items.map(({ name, target, verdict }) => [`${target}\n${name}`, verdict]));
  return rows.map((row) => ({
    ...row,
    before: targets.map((target) => verdictOf.get(`${target}\n${row.name}`) ?? null),
  }));
}

/** The rows with the saved cases they are of, and those that no batch has run yet behind them. */
export function withSaved(rows: readonly CaseRow[], saved: readonly SavedCase[], targets: number): CaseRow[] {
  const byName = new Map(saved.map((one) => [one.name, one]));
  const known = new Set(rows.map(({ name }) => name));
  const others = saved.filter(({ name }) => !known.has(name));
  return [
    ...rows.map((row) => ({ ...row, saved: byName.get(row.name) ?? null })),
    ...others.map((one, index) => ({ ...emptyRow(rows.length + index, one.name, targets), saved: one })),
  ];
}

function byUniqueName(rows: readonly CaseRow[]): Map<string, CaseRow> | null {
  const byName = new Map(rows.map((row) => [row.name, row]));
  return byName.size === rows.length ? byName : null;
}

/** The changes since the batch before, in numbers. */
export type Since = { worse: number; better: number; added: number };

export function sinceBefore(rows: readonly CaseRow[]): Since {
  const since = { worse: 0, better: 0, added: 0 };
  for (const { cells, before } of rows) {
    for (const [index, cell] of cells.entries()) {
      const change = cell === null ? null : changeOf(cell.item.verdict, before[index] ?? null);
      if (change !== null) since[change]++;
    }
  }
  return since;
}

/** Whether a verdict is another than the one before: `worse` when it passed then, `better` when it passes now. */
export function changeOf(now: Verdict, before: Verdict | null): keyof Since | null {
  if (now === 'pending' || now === 'skipped') return null;
  if (before === null) return 'added';
  if (before === 'pending' || before === 'skipped' || isGood(now) === isGood(before)) return null;
  return isGood(now) ? 'better' : 'worse';
}

const isGood = (verdict: Verdict) => verdict === 'passed' || verdict === 'same' || verdict === 'ran';

export const orders = ['failing', 'given', 'name', 'slowest'] as const;
type Order = (typeof orders)[number];

/**
 * Which rows are shown, and in which order. `text`: words that must all be in the name, the input, the client, the error or the outcome.
 * `answer`: what a run came to on one of the targets, by its id. `decidedBy`: the id of the node that decided on one of them.
 */
export type RowFilter = {
  text: string;
  answer: string | null;
  decidedBy: string | null;
  order: Order;
};
export const noRowFilter: RowFilter = { text: '', answer: null, decidedBy: null, order: 'failing' };

/** What runs came to that are counted together: one change, one verdict, or one outcome where nothing was expected. */
export type Answer = {
  id: string;
  verdict: Verdict | 'not-run';
  now: RanTo | null;
  /** What changed, a line for each value, and the first node that differs from the run before. */
  what: string[];
  at: NamedNode | null;
  /** One such run before and now. */
  pair: readonly [string, string] | null;
};

function idOf(cell: Cell | null): string {
  if (cell === null) return 'not-run';
  const { verdict, outcome } = cell.item;
  if (verdict === 'changed') return changeId(cell.item);
  return verdict === 'ran' ? `${outcome}` : verdict;
}

/** The answers that some run came to, and how many: the worst first, and of those the most frequent. */
export function answersOf(rows: readonly CaseRow[]): (Answer & { runs: number })[] {
  const cells = rows.flatMap((row): (Cell | null)[] => (row.cells.length === 0 ? [null] : row.cells));
  const changes = new Map(changeGroups(cells.flatMap((cell) => cell?.item ?? [])).map((group) => [group.id, group]));
  const answers = [...Map.groupBy(cells, idOf)].map(([id, [first, ...rest]]): Answer & { runs: number } => {
    const item = first?.item;
    const change = changes.get(id);
    const now = item?.verdict === 'ran' ? item.outcome : null;
    const pair = change && item?.of && item.mockId ? ([item.of, item.mockId] as const) : null;
    const [what, at] = [change?.what ?? [], change?.parting ?? null];
    return { id, verdict: item?.verdict ?? 'not-run', now, what, at, pair, runs: rest.length + 1 };
  });
  const rank = ({ verdict }: Answer) => (verdict === 'not-run' ? verdicts.length : verdicts.indexOf(verdict));
  return answers.sort((a, b) => rank(a) - rank(b) || b.runs - a.runs);
}

/** The nodes that decided, and how many runs each; the one that decided most first. */
export function decidingNodes(rows: readonly CaseRow[]): (NamedNode & { runs: number })[] {
  const nodes = new Map<string, NamedNode & { runs: number }>();
  for (const { cells } of rows) {
    for (const cell of cells) {
      const node = cell?.item.decidedBy ?? null;
      if (node !== null) nodes.set(node.id, { ...node, runs: (nodes.get(node.id)?.runs ?? 0) + 1 });
    }
  }
  return [...nodes.values()].sort((a, b) => b.runs - a.runs);
}

export function filterRows(rows: readonly CaseRow[], filter: RowFilter): CaseRow[] {
  const { text, answer, decidedBy, order } = filter;
  const isSearchedFor = wordSearch(text);
  const found = rows.filter(({ cells, ...row }) => {
    if (answer !== null && !(cells.length === 0 ? [null] : cells).some((cell) => idOf(cell) === answer)) return false;
    if (decidedBy !== null && !cells.some((cell) => cell?.item.decidedBy?.id === decidedBy)) return false;
    return text === '' || isSearchedFor(searchedText({ cells, ...row }));
  });
  return sorted(found, order);
}

function searchedText(row: CaseRow): string {
  const ends = row.cells.map((cell) => `${cell?.item.address} ${cell?.item.error?.error} ${cell?.item.outcome}`);
  return [row.name, valuesText(inputOf(row) ?? ''), ...ends].join(' ');
}

/** The input of a case as JSON text; null where it is long. */
function inputOf({ cells, saved }: CaseRow): string | null {
  return cells.find((cell) => cell !== null)?.item.input ?? saved?.input ?? null;
}

function sorted(rows: CaseRow[], order: Order): CaseRow[] {
  if (order === 'name') {
    const collator = new Intl.Collator(undefined, { numeric: true });
    return rows.sort((a, b) => collator.compare(a.name, b.name));
  }
  const slowness = ({ cells }: CaseRow) => -Math.max(0, ...cells.map((cell) => cell?.item.tookMs ?? 0));
  const rank = { failing: rankOf, given: () => 0, slowest: slowness }[order];
  const ranked = rows.map((row) => ({ row, rank: rank(row) }));
  return ranked.sort((a, b) => a.rank - b.rank || a.row.place - b.row.place).map(({ row }) => row);
}

function rankOf({ cells }: CaseRow): number {
  return Math.min(...cells.map((cell) => verdicts.indexOf(cell?.item.verdict ?? 'passed')), verdicts.length);
}

const MAX_COLUMNS = 3;
const SAMPLE = 100;

/**
 * The keys of the inputs by which rows are told apart best: those that the rule reads first, and among them those with the most values.
 * A key that is the same everywhere is not one of them.
 */
export function inputColumns(rows: readonly CaseRow[], fields: readonly SchemaField[]): string[] {
  const values = new Map<string, Set<string>>();
  const sample = rows.slice(0, SAMPLE).flatMap((row) => documentOf(row) ?? []);
  for (const { members } of sample)
    for (const { key, value } of members)
      if (value.kind !== 'object' && value.kind !== 'array')
        values.set(key, (values.get(key) ?? new Set()).add(compactJson(value)));
  const isRead = (key: string) => fields.some((field) => field.key === key);
  return [...values]
    .filter(([key, { size }]) => size > 1 || (sample.length === 1 && isRead(key)))
    .sort(([a, one], [b, other]) => Number(isRead(b)) - Number(isRead(a)) || other.size - one.size)
    .slice(0, MAX_COLUMNS)
    .map(([key]) => key);
}

/** A row's value in each column, as JSON text; empty where it has none. */
export function columnValues(row: CaseRow, columns: readonly string[]): string[] {
  const members = new Map(documentOf(row)?.members.map(({ key, value }) => [key, value]));
  return columns.map((key) => {
    const value = members.get(key);
    return value === undefined ? '' : compactJson(value);
  });
}

function documentOf(row: CaseRow): JsonObject | null {
  const text = inputOf(row);
  const read = text === null ? null : readJson(text);
  return read?.kind === 'ok' && read.root.kind === 'object' ? read.root : null;
}

/** Which item is open: of the batch that is shown, or of the one it repeats a part of. */
export function readItemPlace({ batch, item }: Pick<Place, 'batch' | 'item'>): { batchId: string; n: string } | null {
  const [, other, n] = /^(?:([\w-]+)\.)?(\d{1,6})$/.exec(item ?? '') ?? [];
  const batchId = other ?? batch;
  return n === undefined || batchId === null ? null : { batchId, n };
}

/** How the address names an item. */
export function printItemPlace({ batchId, n }: { batchId: string; n: number }, shown: string | null): string {
  return batchId === shown ? String(n) : `${batchId}.${n}`;
}

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
  return useMemo(() => {
    const targets = batch?.targets.map(({ target }) => target) ?? [];
    let rows = batch === null ? [] : rowsOf({ batchId: batch.batchId, targets, items });
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
  }, [batch, items, base, baseItems, before, beforeItems, saved]);
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

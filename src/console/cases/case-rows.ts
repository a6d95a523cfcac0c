import { valuesText, wordSearch } from '../../shared/contract/word-search.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { type Item, outcomes } from '../api/batch-items.ts';
import { type Verdict, verdicts } from '../api/batches.ts';
import type { SavedCase } from '../api/cases.ts';

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
  differs: boolean;
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
  for (const row of rows) row.differs = seemsToDiffer(row);
  return rows;
}

function emptyRow(place: number, name: string, targets: number): CaseRow {
  const none = () => Array.from({ length: targets }, () => null);
  return { place, name, cells: none(), before: none(), differs: false, saved: null };
}

/** As far as items in short tell. Once a batch is over the service says which cases differ, data included. */
function seemsToDiffer({ cells }: CaseRow): boolean {
  const ends = cells.flatMap((cell) => {
    const isOpen = cell === null || cell.item.verdict === 'pending' || cell.item.verdict === 'skipped';
    return isOpen ? [] : [`${cell.item.verdict} ${cell.item.outcome}`];
  });
  return new Set(ends).size > 1;
}

/** The same rows with what a repetition of some of them came to since. Only where names tell cases apart. */
export function withRepeated(rows: readonly CaseRow[], repeated: readonly CaseRow[]): CaseRow[] {
  const byName = byUniqueName(repeated);
  if (!byName || !byUniqueName(rows)) return [...repeated];
  return rows.map((row) => {
    const again = byName.get(row.name);
    if (!again) return row;
    const cells = row.cells.map((cell, index) => again.cells[index] ?? cell);
    return { ...row, cells, differs: again.differs };
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
  if (before === 'pending' || before === 'skipped' || (now === 'passed') === (before === 'passed')) return null;
  return now === 'passed' ? 'better' : 'worse';
}

export const orders = ['failing', 'given', 'name', 'slowest'] as const;
type Order = (typeof orders)[number];

type Outcome = (typeof outcomes)[number];

/**
 * Which rows are shown, and in which order. `text`: words that must all be in the name, the input, the client, the error or the outcome.
 * `outcome`: the rule's result on one of the targets. `decidedBy`: the id of the node that decided on one of them.
 */
export type RowFilter = {
  text: string;
  verdict: Verdict | 'any' | 'not-run';
  outcome: Outcome | 'any';
  decidedBy: string | null;
  differs: boolean;
  order: Order;
};
export const noRowFilter: RowFilter = {
  text: '',
  verdict: 'any',
  outcome: 'any',
  decidedBy: null,
  differs: false,
  order: 'failing',
};

/** How many runs came to each outcome; only those that some came to. */
export function outcomeCounts(rows: readonly CaseRow[]): { outcome: Outcome; runs: number }[] {
  const counts = new Map<Outcome, number>();
  for (const { cells } of rows) {
    for (const cell of cells) {
      const outcome = cell?.item.outcome ?? null;
      if (outcome !== null) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
  }
  return outcomes.flatMap((outcome) => {
    const runs = counts.get(outcome);
    return runs === undefined ? [] : [{ outcome, runs }];
  });
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
  const { text, verdict, outcome, decidedBy, differs, order } = filter;
  const isSearchedFor = wordSearch(text);
  const found = rows.filter((row) => {
    if (differs && !row.differs) return false;
    if (verdict !== 'any' && !verdictsOf(row).includes(verdict)) return false;
    if (outcome !== 'any' && !row.cells.some((cell) => cell?.item.outcome === outcome)) return false;
    if (decidedBy !== null && !row.cells.some((cell) => cell?.item.decidedBy?.id === decidedBy)) return false;
    return text === '' || isSearchedFor(searchedText(row));
  });
  return sorted(found, order);
}

function searchedText(row: CaseRow): string {
  const ends = row.cells.map((cell) => `${cell?.item.address} ${cell?.item.error} ${cell?.item.outcome}`);
  return [row.name, valuesText(inputOf(row) ?? ''), ...ends].join(' ');
}

/** The input of a case as JSON text; null where it is long. */
export function inputOf({ cells, saved }: CaseRow): string | null {
  return cells.find((cell) => cell !== null)?.item.input ?? saved?.input ?? null;
}

function verdictsOf({ cells }: CaseRow): (Verdict | 'not-run')[] {
  return cells.length === 0 ? ['not-run'] : cells.map((cell) => cell?.item.verdict ?? 'not-run');
}

function sorted(rows: CaseRow[], order: Order): CaseRow[] {
  const ranks: Record<Order, (row: CaseRow) => number> = {
    failing: rankOf,
    given: () => 0,
    name: () => 0,
    slowest: ({ cells }) => -Math.max(0, ...cells.map((cell) => cell?.item.tookMs ?? 0)),
  };
  const ranked = rows.map((row) => ({ row, rank: ranks[order](row) }));
  const collator = new Intl.Collator(undefined, { numeric: true });
  ranked.sort((a, b) => {
    if (order === 'name') return collator.compare(a.row.name, b.row.name);
    return a.rank - b.rank || a.row.place - b.row.place;
  });
  return ranked.map(({ row }) => row);
}

/** The worst first; what differs before what is alike. */
function rankOf({ cells, differs }: CaseRow): number {
  const worst = Math.min(...cells.map((cell) => verdicts.indexOf(cell?.item.verdict ?? 'passed')), verdicts.length);
  return worst * 2 + (differs ? 0 : 1);
}

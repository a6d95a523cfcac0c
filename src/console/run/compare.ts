import type { Json } from '../../shared/json-tree/read-json.ts';
import type { Mark } from '../../shared/reasoning/trace/mark.ts';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import { compareNumbers, sameJson } from '../json/diff-json.ts';
import type { Reading } from './reading.ts';

/** A value that documents do not agree on, in each of them; null where one has none. */
export type ValueRow = { path: string; values: (Json | null)[] };

/** The values in which documents differ from the first; a document that is not known (null) differs in nothing. */
export function differingValues(documents: readonly (Json | null)[]): ValueRow[] {
  const rows: ValueRow[] = [];
  const known = documents.map((document) => document !== null);
  function compare(path: string, values: readonly (Json | null)[]): void {
    const [base, ...others] = values.filter((_, index) => known[index]);
    if (base === undefined || others.every((other) => isSameValue(base, other))) return;
    const there = [base, ...others];
    const inside = there.every((value) => value?.kind === 'object') || there.every((value) => value?.kind === 'array');
    if (!inside) return void rows.push({ path, values: [...values] });
    const names = new Set(values.flatMap((value) => (value ? [...entriesOf(value).keys()] : [])));
    for (const name of names)
      compare(
        pathOf(path, name, base),
        values.map((value) => (value && entriesOf(value).get(name)) ?? null),
      );
  }
  compare('', documents);
  return rows;
}

/** The same value to the last digit, however a number is written. */
function isSameValue(a: Json | null, b: Json | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === 'number' && b.kind === 'number')
    return a.text === b.text || compareNumbers(a.text, b.text) === 'rewritten';
  return sameJson(a, b);
}

function entriesOf(json: Json): Map<string, Json> {
  if (json.kind === 'object') return new Map(json.members.map(({ key, value }) => [key, value]));
  return new Map(json.kind === 'array' ? json.items.map((item, index) => [String(index), item]) : []);
}

function pathOf(parent: string, name: string, within: Json | null): string {
  if (within?.kind === 'array') return `${parent}[${name}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

/** All places where a run parts from another, and the first of them: it differs, and nothing below it does. What differs elsewhere may follow from it. */
export type Parting = { places: ReadonlySet<Occurrence>; first: Occurrence | null };

export function partingOf(base: Reading, reading: Reading): Parting {
  const places = differingNodes(base, reading);
  const sorted = [...places].sort((a, b) => a.index - b.index);
  const isLowest = ({ index, size }: Occurrence) =>
    !sorted.some((other) => other.index > index && other.index < index + size);
  return { places, first: sorted.find(isLowest) ?? null };
}

/**
 * The occurrences of a node that had another outcome, wrote another value, read other keys, or ran in one of the two runs only. Their
 * durations do not count. Compares what a node wrote and read only if both clients report it.
 */
function differingNodes(a: Reading, b: Reading): Set<Occurrence> {
  const differing = new Set<Occurrence>();
  const bothTell = a.trace === 'steps' && b.trace === 'steps';
  for (const occurrence of new Set([...a.replay.marks.keys(), ...b.replay.marks.keys()])) {
    const [mine, theirs] = [a.replay.marks.get(occurrence), b.replay.marks.get(occurrence)];
    const differs =
      mine?.outcome !== theirs?.outcome || (bothTell && !(sameWrites(mine, theirs) && sameKeys(mine, theirs)));
    if (differs) differing.add(occurrence);
  }
  return differing;
}

function sameWrites(a: Mark | undefined, b: Mark | undefined): boolean {
  const [mine, theirs] = [a?.writes ?? [], b?.writes ?? []];
  return (
    mine.length === theirs.length &&
    mine.every(({ key, after, size }, index) => {
      const other = theirs[index];
      return other?.key === key && other.size === size && isSameValue(after, other.after);
    })
  );
}

/** A node that read another key came to what it did for another reason. */
function sameKeys(a: Mark | undefined, b: Mark | undefined): boolean {
  const [mine, theirs] = [a, b].map((mark) =>
    (mark?.reads ?? [])
      .map(({ key }) => key)
      .sort()
      .join('\n'),
  );
  return mine === theirs;
}

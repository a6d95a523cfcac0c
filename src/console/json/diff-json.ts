import { sameNumber } from '../../shared/cases/judging/decimal.ts';
import type { Json } from '../../shared/json-tree/read-json.ts';

/**
 * One value before and after. `rewritten`: the same number in other digits (1 and 1.0). `rounded`: the number after is the 64-bit float
 * nearest to the one before, so digits were lost.
 */
type ChangeKind = 'added' | 'removed' | 'changed' | 'rewritten' | 'rounded' | 'same';
export type Change = { path: string; key: string; kind: ChangeKind; before: Json | null; after: Json | null };

/** Beyond this many differences nobody reads on; the rest is only counted. */
const MAX_CHANGES = 2000;

/** The changes from one document to another, in the order of the second; removed members come last. */
export function diffJson(before: Json, after: Json): { changes: Change[]; notListed: number } {
  const changes: Change[] = [];
  let notListed = 0;
  const note = (change: Change) => {
    if (changes.length < MAX_CHANGES) changes.push(change);
    else notListed++;
  };

  function compare(path: string, key: string, a: Json | null, b: Json | null): void {
    if (a === null || b === null) {
      if (a !== b) note({ path, key, kind: a === null ? 'added' : 'removed', before: a, after: b });
      return;
    }
    const inside = isContainer(a) && a.kind === b.kind && sizeOf(a) > 0 && sizeOf(b) > 0;
    if (inside && !sameJson(a, b)) compareMembers(path, key, a, b);
    else note({ path, key, kind: relation(a, b), before: a, after: b });
  }

  function compareMembers(path: string, key: string, a: Json, b: Json): void {
    const [olds, news] = [entriesOf(a), entriesOf(b)];
    for (const [name, value] of news) {
      compare(pathOf(path, name, b), path === '' ? name : key, olds.get(name) ?? null, value);
    }
    for (const [name, value] of olds) {
      if (!news.has(name)) compare(pathOf(path, name, a), path === '' ? name : key, value, null);
    }
  }

  compareMembers('', '', before, after);
  return { changes, notListed };
}

function relation(a: Json, b: Json): ChangeKind {
  if (a.kind === 'number' && b.kind === 'number') {
    const numbers = compareNumbers(a.text, b.text);
    return numbers === 'different' ? 'changed' : numbers;
  }
  return sameJson(a, b) ? 'same' : 'changed';
}

function pathOf(parent: string, name: string, within: Json): string {
  if (within.kind === 'array') return `${parent}[${name}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

function isContainer(json: Json): boolean {
  return json.kind === 'object' || json.kind === 'array';
}

function sizeOf(json: Json): number {
  return entriesOf(json).size;
}

function entriesOf(json: Json): Map<string, Json> {
  if (json.kind === 'object') return new Map(json.members.map(({ key, value }) => [key, value]));
  return new Map(json.kind === 'array' ? json.items.map((item, index) => [String(index), item]) : []);
}

/** How two numbers relate: `rewritten` = one value written in two ways (1 and 1.0), `rounded` = one is what a 64-bit float makes of the other. */
type NumberRelation = 'same' | 'rewritten' | 'rounded' | 'different';

export function compareNumbers(before: string, after: string): NumberRelation {
  if (before === after) return 'same';
  if (sameNumber(before, after)) return 'rewritten';
  return isRounded(before, after) ? 'rounded' : 'different';
}

function isRounded(before: string, after: string): boolean {
  const float = Number(before);
  return Number.isFinite(float) && sameNumber(String(float), after);
}

/** Whether two values are equal to the last digit; the order of members does not matter, the way a number is written does. */
export function sameJson(a: Json, b: Json): boolean {
  if (a.kind === 'object' && b.kind === 'object') {
    if (a.members.length !== b.members.length) return false;
    const others = new Map(b.members.map(({ key, value }) => [key, value]));
    return a.members.every(({ key, value }) => {
      const other = others.get(key);
      return other !== undefined && sameJson(value, other);
    });
  }
  if (a.kind === 'array' && b.kind === 'array') {
    return (
      a.items.length === b.items.length &&
      a.items.every((item, index) => {
        const other = b.items[index];
        return other !== undefined && sameJson(item, other);
      })
    );
  }
  if (a.kind === 'number' && b.kind === 'number') return a.text === b.text;
  if (a.kind === 'string' && b.kind === 'string') return a.value === b.value;
  if (a.kind === 'boolean' && b.kind === 'boolean') return a.value === b.value;
  return a.kind === 'null' && b.kind === 'null';
}

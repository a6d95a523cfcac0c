import { sameNumber } from '../cases/judging/decimal.ts';
import { printPath, type Step } from '../cases/path.ts';
import { type ExactValue, isExactObject, RawNumber, stringifyExact } from '../contract/json/raw-number.ts';

/** A value that is another one, by its path; as exact JSON text, null where there is nothing. */
export type DataChange = { path: string; before: string | null; after: string | null };

/** Whether two values are equal by their exact values, however numbers are written and members are ordered. */
export function sameValue(one: ExactValue | undefined, other: ExactValue | undefined): boolean {
  return changesOfData(one, other, { most: 1 }).length === 0;
}

/** Where two values differ: member by member, and in lists element by element. */
export function changesOfData(
  before: ExactValue | undefined,
  after: ExactValue | undefined,
  { path = [], most = Number.POSITIVE_INFINITY }: { path?: readonly Step[]; most?: number } = {},
): DataChange[] {
  const changes: DataChange[] = [];
  compare(before, after, path);
  return changes;

  function compare(one: ExactValue | undefined, other: ExactValue | undefined, at: readonly Step[]): void {
    if (changes.length >= most || one === other) return;
    if (one instanceof RawNumber && other instanceof RawNumber && sameNumber(one.text, other.text)) return;
    if (isExactObject(one) && isExactObject(other)) {
      for (const key of new Set([...Object.keys(one), ...Object.keys(other)]))
        compare(memberOf(one, key), memberOf(other, key), [...at, key]);
    } else if (Array.isArray(one) && Array.isArray(other)) {
      for (let index = 0; index < Math.max(one.length, other.length); index++)
        compare(one[index], other[index], [...at, index]);
    } else changes.push({ path: printPath(at), before: textOf(one), after: textOf(other) });
  }
}

export const memberOf = (object: { [key: string]: ExactValue }, key: string) =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const textOf = (value: ExactValue | undefined) => (value === undefined ? null : stringifyExact(value));

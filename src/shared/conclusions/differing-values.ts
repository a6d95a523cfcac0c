import { sameNumber } from '../cases/judging/decimal.ts';
import { EVERY, type Pattern, parsePattern, printPath, type Step } from '../cases/path.ts';
import { type ExactValue, isExactObject, RawNumber, stringifyExact } from '../contract/json/raw-number.ts';
import { field } from '../contract/json/read-exact.ts';

/** A value that is not the same in several documents, by its path; as exact JSON text, null where there is nothing. */
export type ValueRow = { path: string; values: (string | null)[] };

/** Whether two values are equal by their exact values, however numbers are written and members are ordered. */
export function sameValue(one: ExactValue | undefined, other: ExactValue | undefined): boolean {
  return differingValues([one, other], 1).length === 0;
}

/** Where documents differ from the first: member by member, and in lists element by element. */
export function differingValues(
  documents: readonly (ExactValue | undefined)[],
  most = Number.POSITIVE_INFINITY,
): ValueRow[] {
  const rows: ValueRow[] = [];
  compare(documents, []);
  return rows;

  function compare(values: readonly (ExactValue | undefined)[], at: readonly Step[]): void {
    if (rows.length >= most || values.every((value) => isEqual(value, values[0]))) return;
    if (values.every(isExactObject)) {
      for (const key of new Set(values.flatMap(Object.keys)))
        compare(
          values.map((value) => field(value, key)),
          [...at, key],
        );
    } else if (values.every(isList)) {
      const longest = Math.max(...values.map(({ length }) => length));
      for (let index = 0; index < longest; index++)
        compare(
          values.map((value) => value[index]),
          [...at, index],
        );
    } else rows.push({ path: printPath(at), values: values.map(textOf) });
  }
}

/** The paths at which two runs of one input differ, each position of a list as `[*]`: what may be noise. */
export function differingPaths(one: ExactValue, other: ExactValue): string[] {
  const everyPosition = (step: Pattern[number]) => (typeof step === 'number' ? EVERY : step);
  const paths = differingValues([one, other]).map(({ path }) => (parsePattern(path) ?? []).map(everyPosition));
  return [...new Set(paths.map(printPath))].sort();
}

/** For all but objects and lists. */
function isEqual(one: ExactValue | undefined, other: ExactValue | undefined): boolean {
  const areNumbers = one instanceof RawNumber && other instanceof RawNumber;
  return one === other || (areNumbers && sameNumber(one.text, other.text));
}

const isList = (value: ExactValue | undefined): value is ExactValue[] => Array.isArray(value);

const textOf = (value: ExactValue | undefined) => (value === undefined ? null : stringifyExact(value));

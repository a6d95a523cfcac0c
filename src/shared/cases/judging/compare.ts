import type { Difference } from '../../contract/batches.ts';
import { type ExactValue, isExactObject, RawNumber, stringifyExact } from '../../contract/json/raw-number.ts';
import type { ProblemFault } from '../../reasons/problems.ts';
import { printPath, type Step } from '../path.ts';
import { isApproximable, isNear, sameNumber } from './decimal.ts';
import { MAX_DIFFERENCES, shortened } from './difference.ts';

type Operator = { kind: 'any' } | { kind: 'approx'; expected: string; by: string };

/**
 * Compares data after a run with what is expected of it. Objects are subsets: only members that are named count. Inside a
 * list every element counts whole and in order. Numbers are compared by their exact value.
 */
export function compareData(expected: ExactValue, actual: ExactValue): Difference[] {
  const found: Difference[] = [];
  compare(expected, actual, { path: [], whole: false, found });
  return found;
}

type Comparing = { path: Step[]; whole: boolean; found: Difference[] };

function compare(expected: ExactValue, actual: ExactValue | undefined, place: Comparing): void {
  if (place.found.length >= MAX_DIFFERENCES) return;
  const operator = operatorOf(expected);
  if (actual === undefined) tell(place, expected, undefined, 'missing');
  else if (operator) applyOperator(operator, expected, actual, place);
  else if (isExactObject(expected) && isExactObject(actual))
    compareInside(Object.entries(expected), Object.entries(actual), place);
  else if (Array.isArray(expected) && Array.isArray(actual))
    compareInside([...expected.entries()], [...actual.entries()], { ...place, whole: true });
  else if (!sameScalar(expected, actual)) tell(place, expected, actual, 'differs');
}

function applyOperator(operator: Operator, expected: ExactValue, actual: ExactValue, place: Comparing): void {
  if (operator.kind === 'any') return;
  const isNumber = actual instanceof RawNumber;
  if (isNumber && isNear(actual.text, operator)) return;
  tell(place, expected, actual, isNumber ? 'too-far' : 'no-number');
}

function compareInside(
  expected: readonly [Step, ExactValue][],
  actual: readonly [Step, ExactValue][],
  { path, ...place }: Comparing,
): void {
  const [wanted, found] = [new Map(expected), new Map(actual)];
  for (const [step, value] of expected) compare(value, found.get(step), { ...place, path: [...path, step] });
  for (const [step, value] of place.whole ? actual : [])
    if (!wanted.has(step)) tell({ ...place, path: [...path, step] }, undefined, value, 'unexpected');
}

function sameScalar(expected: ExactValue, actual: ExactValue): boolean {
  if (expected instanceof RawNumber) return actual instanceof RawNumber && sameNumber(expected.text, actual.text);
  return expected === actual;
}

function tell(
  place: Comparing,
  expected: ExactValue | undefined,
  actual: ExactValue | undefined,
  how: Difference['how'],
): void {
  if (place.found.length >= MAX_DIFFERENCES) return;
  place.found.push({ path: printPath(place.path), expected: textOf(expected), actual: textOf(actual), how });
}

const textOf = (value: ExactValue | undefined) => (value === undefined ? null : shortened(stringifyExact(value)));

/** The problems of the operators of an expectation, by path. An operator is one only when it is alone in its object. */
export function operatorProblems(
  value: ExactValue,
  path: readonly Step[] = [],
): { path: readonly Step[]; fault: ProblemFault }[] {
  if (Array.isArray(value)) return value.flatMap((element, index) => operatorProblems(element, [...path, index]));
  if (!isExactObject(value)) return [];
  const operator = operatorOf(value);
  if (operator?.kind === 'approx') {
    const wrong = [operator.expected, operator.by].find((text) => !isApproximable(text));
    if (wrong !== undefined) return [{ path, fault: { problem: 'approximate-number', number: shortened(wrong) } }];
    return operator.by.startsWith('-') ? [{ path, fault: { problem: 'approximate-by' } }] : [];
  }
  if (operator) return [];
  return Object.entries(value).flatMap(([key, member]) => operatorProblems(member, [...path, key]));
}

function operatorOf(value: ExactValue): Operator | null {
  if (!isExactObject(value)) return null;
  const keys = Object.keys(value);
  const { $any: any, $approx: approx, $by: by } = value;
  if (keys.length === 1 && any === true) return { kind: 'any' };
  if (keys.length === 2 && approx instanceof RawNumber && by instanceof RawNumber)
    return { kind: 'approx', expected: approx.text, by: by.text };
  return null;
}

import { type Replacement, replaceValues } from '../../shared/cases/document/splice.ts';
import { valueAt } from '../../shared/cases/judging/value-at.ts';
import { parsePath, printPath, type Step } from '../../shared/cases/path.ts';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';
import { HIDDEN } from '../../shared/privacy/hide-at.ts';
import { differences } from '../../shared/reasons/remarks.ts';
import { badItems } from './print-failures.ts';
import type { Suite } from './suite.ts';

type Item = BatchReport['items'][number];
/** The document with what the runs came to, and the cases that were not updated, each with the reason. */
type Updated = { text: string; updated: string[]; left: string[] };

/**
 * Replaces expected values by the actual ones. Only members that `expect` has already; never after an error or without an answer, nor where
 * targets disagree, because such a result must not become an expectation unseen.
 */
export function updateExpectations(suite: Suite, report: BatchReport): Updated {
  const names = [...new Set(badItems(report).map(({ name }) => name))];
  const found = names.map((name) => ({ name: visible(name), change: changeOf(suite, report, name) }));
  const replacements = found.flatMap(({ change }) => (typeof change === 'string' ? [] : change));
  return {
    text: replacements.length === 0 ? suite.text : replaceValues(suite.text, replacements),
    updated: found.flatMap(({ name, change }) => (typeof change === 'string' ? [] : name)),
    left: found.flatMap(({ name, change }) => (typeof change === 'string' ? `${name}: ${change}` : [])),
  };
}

/** The values that a case came to, in the places of those that were expected; or why it is left as it is. */
function changeOf({ cases }: Suite, report: BatchReport, name: string): Replacement[] | string {
  const items = report.items.filter((item) => item.name === name && item.verdict !== 'skipped');
  const bad = items.find(({ verdict }) => verdict === 'error' || verdict === 'unanswered');
  if (bad) return `it has no result on ${bad.target} (${bad.verdict})`;
  const index = cases.findIndex((one) => one.name === name);
  const input = cases[index]?.input;
  if (input === undefined) return 'the document has no case of this name';
  const [first, ...others] = items.map((item) => foundBy(item, input, index));
  const isOther = (change: Replacement[] | string) => JSON.stringify(change) !== JSON.stringify(first);
  return first === undefined || others.some(isOther) ? 'targets disagree: run it on one of them' : first;
}

function foundBy({ differences: found, changed, cut }: Item, input: string, index: number): Replacement[] | string {
  const data =
    changed === null && cut ? null : { ...Object(parseExact(input)), ...Object(parseExact(changed ?? '{}')) };
  const replacements = new Map<string, string>();
  for (const { path, expected, actual, how } of found) {
    const steps = parsePath(path) ?? [];
    const place = listOrValue(steps);
    const isOperator = expected?.startsWith('{"$') ?? false;
    const canBe = steps[0] === 'data' || (how === 'differs' && (path === 'outcome' || steps[0] === 'nodes'));
    const isInList = place.length < steps.length;
    if (!canBe || isOperator || (!isInList && (expected === null || actual === null)))
      return `${path} ${differences[how]}, which is not a value to replace`;
    const value = steps[0] === 'data' ? valueIn(data, place.slice(1)) : JSON.stringify(actual);
    if (value === null) return `${path}: what was found is not kept whole`;
    if (value.includes(HIDDEN)) return `${path}: what was found is hidden (MASK)`;
    if (steps[0] === 'nodes' && actual?.includes(',')) return `${path} came to ${actual}`;
    replacements.set(printPath(['cases', index, 'expect', ...place]), value);
  }
  return [...replacements].map(([path, json]) => ({ path, json }));
}

/** The way to a value, or to the list it is in: lists are compared whole, so they are replaced whole. */
function listOrValue(steps: readonly Step[]): readonly Step[] {
  const at = steps.findIndex((step) => typeof step === 'number');
  return at < 0 ? steps : steps.slice(0, at);
}

function valueIn(data: ExactValue | null, path: readonly Step[]): string | null {
  const value = data === null ? undefined : valueAt(data, path);
  return value === undefined ? null : stringifyExact(value);
}

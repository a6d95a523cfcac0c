import { type Replacement, replaceValues } from '../../shared/cases/document/splice.ts';
import { valueAt } from '../../shared/cases/judging/value-at.ts';
import { parsePath, printPath, type Step } from '../../shared/cases/path.ts';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';
import { HIDDEN } from '../../shared/privacy/hide-at.ts';
import { differences } from '../../shared/reasons/remarks.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { badItems } from './print-failures.ts';
import type { Suite } from './suite.ts';

type Item = BatchReport['items'][number];
/** An item of the service: its input and what the run changed, as JSON text. */
type ItemText = (n: number) => Promise<string>;
/** The document with what the runs came to, and the cases that were not updated, each with the reason. */
type Updated = { text: string; updated: string[]; left: string[] };
type Change = { kind: 'change'; replacements: Replacement[] } | { kind: 'left'; why: string };

/**
 * Replaces expected values by the actual ones. Only members that `expect` has already; never after an error or without an answer, nor where
 * targets disagree, because such a result must not become an expectation unseen.
 */
export async function updateExpectations(itemText: ItemText, suite: Suite, report: BatchReport): Promise<Updated> {
  const names = [...new Set(badItems(report).map(({ name }) => name))];
  const replacements: Replacement[] = [];
  const result: Omit<Updated, 'text'> = { updated: [], left: [] };
  for (const name of names) {
    const change = await changeOf(itemText, report, { name, index: suite.cases.findIndex((one) => one.name === name) });
    if (change.kind === 'left') result.left.push(`${visible(name)}: ${change.why}`);
    else {
      replacements.push(...change.replacements);
      result.updated.push(visible(name));
    }
  }
  return { ...result, text: replacements.length === 0 ? suite.text : replaceValues(suite.text, replacements) };
}

async function changeOf(
  itemText: ItemText,
  report: BatchReport,
  one: { name: string; index: number },
): Promise<Change> {
  const items = report.items.filter(({ name, verdict }) => name === one.name && verdict !== 'skipped');
  const bad = items.find(({ verdict }) => verdict === 'error' || verdict === 'unanswered');
  if (bad) return { kind: 'left', why: `it has no result on ${bad.target} (${bad.verdict})` };
  const changes = await Promise.all(items.map(async (item) => foundBy(await itemText(item.n), item, one.index)));
  const texts = new Set(changes.map((change) => JSON.stringify(change)));
  const [first] = changes;
  if (!first || texts.size > 1) return { kind: 'left', why: 'targets disagree: run it on one of them' };
  return first;
}

/** The values one item came to, in the places of those that were expected. */
function foundBy(text: string, { differences: found }: Item, index: number): Change {
  const data = dataAfter(text);
  const replacements = new Map<string, string>();
  for (const { path, expected, actual, how } of found) {
    const steps = parsePath(path) ?? [];
    const place = listOrValue(steps);
    const isOperator = expected?.startsWith('{"$') ?? false;
    const canBe = steps[0] === 'data' || (how === 'differs' && (path === 'outcome' || steps[0] === 'nodes'));
    const isInList = place.length < steps.length;
    if (!canBe || isOperator || (!isInList && (expected === null || actual === null)))
      return { kind: 'left', why: `${path} ${differences[how]}, which is not a value to replace` };
    const value = steps[0] === 'data' ? valueIn(data, place.slice(1)) : JSON.stringify(actual);
    if (value === null) return { kind: 'left', why: `${path}: what was found is not kept whole` };
    if (value.includes(HIDDEN) && isMasked(text))
      return { kind: 'left', why: `${path}: what was found is hidden (MASK)` };
    if (steps[0] === 'nodes' && actual?.includes(',')) return { kind: 'left', why: `${path} came to ${actual}` };
    replacements.set(printPath(['cases', index, 'expect', ...place]), value);
  }
  return { kind: 'change', replacements: [...replacements].map(([path, json]) => ({ path, json })) };
}

/** Whether an item has masked values: they must not become expectations. */
const isMasked = (text: string) => (rawMember(text, 'masked') ?? '[]') !== '[]';

/** The way to a value, or to the list it is in: lists are compared whole, so they are replaced whole. */
function listOrValue(steps: readonly Step[]): readonly Step[] {
  const at = steps.findIndex((step) => typeof step === 'number');
  return at < 0 ? steps : steps.slice(0, at);
}

/** The data after the run: the input with the run's changes. Null when they were too large to be kept. */
function dataAfter(text: string): ExactValue | null {
  const changed = rawMember(text, 'changed');
  if (changed === undefined && rawMember(text, 'cut') === 'true') return null;
  const [before, after] = [parseExact(rawMember(text, DATA_FIELD) ?? '{}'), parseExact(changed ?? 'null')];
  return { ...Object(before), ...Object(after) };
}

function valueIn(data: ExactValue | null, path: readonly Step[]): string | null {
  const value = data === null ? undefined : valueAt(data, path);
  return value === undefined ? null : stringifyExact(value);
}

import { orderOf } from '../../../shared/cases/judging/decimal.ts';
import { valueAt } from '../../../shared/cases/judging/value-at.ts';
import { parsePath, type Step } from '../../../shared/cases/path.ts';
import { type ExecutionRecord, shownError } from '../../../shared/contract/execution-record.ts';
import { parseExact } from '../../../shared/contract/json/exact-json.ts';
import { type ExactValue, RawNumber } from '../../../shared/contract/json/raw-number.ts';
import { valuesText, wordSearch } from '../../../shared/contract/word-search.ts';
import type { Mask } from '../../../shared/privacy/mask.ts';
import { type Problem, problemAt } from '../../../shared/reasons/problems.ts';

const operators = ['=', '!=', '>', '>=', '<', '<='] as const;
type Operator = (typeof operators)[number];

/** One condition on the input: `cost >= 100`, `user.name = Ann`, `uid = "42"`. */
export type Condition = {
  path: string;
  steps: readonly Step[];
  is: Operator;
  value: null | boolean | string | RawNumber;
};

/** A search, whose parts must all match. `pinned`: only pinned executions. `text`: words, each of which occurs in the input or in the record. */
export type Search = {
  state?: string | undefined;
  outcome?: string | undefined;
  code?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
  address?: string | undefined;
  lane?: string | undefined;
  comparisonId?: string | undefined;
  by?: string | undefined;
  text?: string | undefined;
  pinned?: boolean | undefined;
  where: readonly Condition[];
};

const WORDS = [
  'state',
  'outcome',
  'code',
  'from',
  'to',
  'address',
  'lane',
  'comparisonId',
  'by',
  'text',
  'pinned',
] as const;

/** Whether there is anything to search for. */
export function isSearch(search: Search): boolean {
  return search.where.length > 0 || WORDS.some((word) => search[word] !== undefined);
}

/** Without nested repetitions, so that matching takes linear time. */
const CONDITION = /^((?:[^\s"<>=![\]]|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+)\s*(!=|>=|<=|==?|>|<)\s*(.*)$/s;

/** Reads `path op value`, with `==` for `=`. A value is JSON, or else a string. Returns the fault of what is no condition. */
export function readCondition(text: string): Condition | Problem {
  const [, path = '', is, given = ''] = CONDITION.exec(text) ?? [];
  const steps = parsePath(path);
  const operator = operators.find((one) => one === (is === '==' ? '=' : is));
  if (steps === null || operator === undefined)
    return problemAt('where', 'invalid-format', { expected: 'condition', example: 'cost>=100' });
  const value = scalarOf(given);
  if (value === undefined) return problemAt('where', 'no-scalar', {});
  if (operator.match(/[<>]/) && !(value instanceof RawNumber)) return problemAt('where', 'no-order', { operator });
  return { path, steps, is: operator, value };
}

function scalarOf(text: string): Condition['value'] | undefined {
  let value: ExactValue;
  try {
    value = parseExact(text);
  } catch {
    return text;
  }
  return value === null || typeof value !== 'object' || value instanceof RawNumber ? value : undefined;
}

/**
 * Whether the input has what a condition asks for. Numbers are exact. `uid=42` also finds the text "42", often the very mistake that is
 * looked for; `uid="42"` finds the text alone. A missing value matches `!=` only.
 */
export function holds({ steps, is, value }: Condition, input: ExactValue): boolean {
  const actual = valueAt(input, steps);
  if (is === '=') return isSame(actual, value);
  if (is === '!=') return !isSame(actual, value);
  if (!(actual instanceof RawNumber) || !(value instanceof RawNumber)) return false;
  const order = orderOf(actual.text, value.text);
  if (order === null) return false;
  return is === '>' ? order > 0 : is === '>=' ? order >= 0 : is === '<' ? order < 0 : order <= 0;
}

/** The fault of conditions on masked values; null if there is none. */
export function hiddenIn(where: readonly Condition[], mask: Mask | null): Problem | null {
  const hidden = where.find(({ steps }) => mask?.covers(steps));
  return hidden ? problemAt('where', 'hidden-value', { path: hidden.path }) : null;
}

function isSame(actual: ExactValue | undefined, value: Condition['value']): boolean {
  if (actual instanceof RawNumber && value instanceof RawNumber) return orderOf(actual.text, value.text) === 0;
  if (typeof actual === 'string' && typeof value !== 'string') {
    const meant = scalarOf(actual);
    return typeof meant !== 'string' && meant !== undefined && isSame(meant, value);
  }
  return actual === value;
}

/** Whether the record matches; words may also occur in the input. */
export function recordFits(record: ExecutionRecord, search: Search): boolean {
  const { state, outcome, code, from, to, address, lane, comparisonId, by } = search;
  const at = record.history[0]?.at ?? 0;
  return (
    (state === undefined || record.state === state) &&
    (outcome === undefined || (record.outcome ?? 'no-result') === outcome) &&
    (code === undefined || record.ending?.code === code) &&
    (from === undefined || at >= from) &&
    (to === undefined || at < to) &&
    (address === undefined || record.address === address) &&
    (lane === undefined || record.lane === lane) &&
    (comparisonId === undefined || record.comparisonId === comparisonId) &&
    (by === undefined || record.keyName === by)
  );
}

/** Whether every word occurs in the input or in the record, its error included. */
export function hasWords(words: string, record: ExecutionRecord, input: string | null): boolean {
  const { mockId, ruleId, address, target, lane, keyName, state, ending } = record;
  const known = [
    mockId,
    `#${ruleId ?? ''}`,
    address,
    target,
    lane,
    keyName,
    state,
    ending?.code,
    ending?.reason,
    shownError(record),
  ];
  return wordSearch(words)([...known, valuesText(input ?? '')].join(' '));
}

import type { z } from 'zod';
import { type Problem, type ProblemCode, problemAt, problemOfFault, type problems } from '../reasons/problems.ts';
import { givenOf, type Params, type ParamsOf } from '../reasons/template.ts';
import { RawJson, RawNumber } from './json/raw-number.ts';

/** What a check of ours finds, as Zod carries it: the parameters of a custom issue. Others are looked for all the same. */
export const because = <Of extends ProblemCode>(problem: Of, params: ParamsOf<(typeof problems)[Of]>) => ({
  params: { ...givenOf(params), problem },
  abort: false,
});

/** A fault as an issue of a check or a transformation. */
export const issueOf = (params: Params & { problem: string }) => ({ code: 'custom' as const, params });

/**
 * The problems that Zod found. Its own codes have names of ours that differ in a hyphen; other parts of its messages are English. What was
 * found is told where the schema was asked with `reportInput`.
 */
export const problemsOf = (issues: readonly z.core.$ZodIssue[]): Problem[] => issues.flatMap(problemsOfIssue);

function problemsOfIssue(issue: z.core.$ZodIssue): Problem[] {
  const field = issue.path.join('.');
  const received = 'input' in issue ? receivedOf(issue.input) : {};
  switch (issue.code) {
    case 'custom':
      return [ofCustom(field, issue.params, received)];
    case 'invalid_type':
      return [problemAt(field, 'invalid-type', { expected: EXPECTED[issue.expected] ?? issue.expected, ...received })];
    case 'invalid_value': {
      const values = issue.values.filter((value) => value !== '').map(String);
      const one = values.length === 1 ? { value: values.join() } : { values: values.join(', ') };
      return [problemAt(field, 'invalid-value', one)];
    }
    case 'unrecognized_keys':
      return issue.keys.map((key) => problemAt([...issue.path, key].join('.'), 'no-keys', {}));
    default:
      return [problemAt(field, 'invalid', {})];
  }
}

const EXPECTED: Partial<Record<string, string>> = { bigint: 'integer', int: 'integer', record: 'object' };
const NAMES_WHAT_CAME = new Set(['invalid-type', 'too-small', 'too-big']);

function ofCustom(field: string, params: unknown, received: Params): Problem {
  const { problem = 'invalid', ...rest } = textsIn(params);
  const more = NAMES_WHAT_CAME.has(`${problem}`) ? received : {};
  return problemOfFault(field, { ...rest, ...more, problem: `${problem}` });
}

const textsIn = (params: unknown): Params =>
  Object.fromEntries(
    Object.entries(params ?? {}).filter(([, value]) => typeof value === 'string' || typeof value === 'number'),
  );

/** What was given in the place of something else: its kind, or a number as it is written. */
function receivedOf(value: unknown): Params {
  if (value === undefined) return { received: 'nothing' };
  if (value instanceof RawJson) return { received: value.kind };
  if (value instanceof RawNumber) return { found: shortened(value.text) };
  if (typeof value === 'string') return { received: 'string' };
  return { found: shortened(String(value)) };
}

const shortened = (text: string) => (text.length > 40 ? `${text.slice(0, 37)}…` : text);

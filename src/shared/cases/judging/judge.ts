import { DATA_FIELD } from '../../contract/data-field.ts';
import type { Code } from '../../contract/endings/codes.ts';
import type { Decision } from '../../contract/job.ts';
import { parseExact, scanJson } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { type ExactValue, stringifyExact } from '../../contract/json/raw-number.ts';
import { type NodeState, traceEntries } from '../../contract/trace-entries.ts';
import type { Expect } from '../case.ts';
import { textOf } from '../document/read-members.ts';
import { parsePath } from '../path.ts';
import type { RanTo, Verdict } from '../verdict.ts';
import { compareData } from './compare.ts';
import { type Difference, MAX_DIFFERENCES, shortened } from './difference.ts';
import { withoutNoise } from './noise.ts';
import { valueAt } from './value-at.ts';

/**
 * How a run ended, as far as it can be judged. `body` is the client's answer as JSON text; `tookMs` from dispatch to answer.
 */
type Run =
  | { kind: 'answered'; body: string; success: boolean; decision: Decision | null; tookMs: number | null }
  | { kind: 'unanswered'; code: Code; error: string };

/** Compares how a run ended with what was expected of it. */
export type Judgement = {
  verdict: Verdict;
  /** The decision of the rule; null when there is no answer, or the trace does not say. */
  outcome: RanTo | null;
  /** The client's own error, or why there is no answer. */
  error: string | null;
  differences: Difference[];
  /** The data after the run as JSON text; null when there is no answer. */
  data: string | null;
  /** The states of the nodes; null when the trace does not say. */
  nodes: Record<string, NodeState[]> | null;
};

/**
 * Judges one run. An expectation of null asks for nothing but that the rule runs without an error. Data at the paths to `ignore` counts for
 * nothing.
 */
export function judge(expect: Expect | null, run: Run, ignore: readonly string[] = []): Judgement {
  if (run.kind === 'unanswered')
    return { verdict: 'unanswered', outcome: null, error: run.error, differences: [], data: null, nodes: null };
  const answer = readAnswer(run.body);
  const ranBadly = !run.success || answer.error !== null;
  const outcome: RanTo | null = ranBadly ? 'ERROR' : run.decision;
  const wanted = expect ?? {};
  const nodes = answer.trace === null ? null : nodesOfTrace(answer.trace);
  const differences = [
    ...outcomeDifferences(wanted, outcome),
    ...errorDifferences(wanted, { ranBadly, error: answer.error }),
    ...dataDifferences(wanted, answer.data, ignore),
    ...nodeDifferences(wanted, nodes),
    ...timeDifferences(wanted, run.tookMs),
  ].slice(0, MAX_DIFFERENCES);
  const errorWasExpected = wanted.outcome === 'ERROR' || wanted.error !== undefined;
  const verdict = ranBadly && !errorWasExpected ? 'error' : differences.length > 0 ? 'failed' : 'passed';
  const error = ranBadly ? (answer.error ?? 'The client reports a failure without a reason.') : null;
  return { verdict, outcome, error, differences, data: answer.data, nodes: nodes && Object.fromEntries(nodes) };
}

type Answer = { data: string; trace: string | null; error: string | null };

function readAnswer(body: string): Answer {
  const scanned = scanJson(body);
  const members = new Map(scanned.kind === 'complete' ? scanned.members.map((member) => [member.key, member]) : []);
  const process = members.get('process');
  return {
    data: members.get(DATA_FIELD)?.raw ?? '{}',
    trace: process?.kind === 'string' ? textOf(process.raw) : null,
    error: errorText(members.get('error')),
  };
}

function errorText(member: Member | undefined): string | null {
  if (member === undefined || member.kind === 'null') return null;
  return member.kind === 'string' ? textOf(member.raw) || null : member.raw;
}

function outcomeDifferences({ outcome: expected }: Expect, actual: RanTo | null): Difference[] {
  if (expected === undefined || expected === actual) return [];
  const message = actual === null ? 'cannot be told: the trace does not say' : 'differs';
  return [{ path: 'outcome', expected, actual, message }];
}

function errorDifferences(
  { error: expected }: Expect,
  { ranBadly, error }: { ranBadly: boolean; error: string | null },
): Difference[] {
  if (expected === undefined || error?.includes(expected)) return [];
  const message = ranBadly ? 'does not contain the expected text' : 'did not come: the rule ran without one';
  return [{ path: 'error', expected, actual: error === null ? null : shortened(error), message }];
}

function dataDifferences(
  { data: expected, absent = [] }: Expect,
  data: string,
  ignore: readonly string[],
): Difference[] {
  if (expected === undefined && absent.length === 0) return [];
  const actual = parseExact(data);
  const differences =
    expected === undefined ? [] : compareData(withoutNoise(parseExact(expected), ignore), withoutNoise(actual, ignore));
  const there = absent.flatMap((path) => presentAt(path, actual));
  return [...differences, ...there].map((difference) => ({ ...difference, path: `data.${difference.path}` }));
}

function presentAt(path: string, actual: ExactValue): Difference[] {
  const found = valueAt(actual, parsePath(path) ?? []);
  if (found === undefined) return [];
  return [{ path, expected: null, actual: shortened(stringifyExact(found)), message: 'must not be there' }];
}

function nodeDifferences({ nodes: expected = {} }: Expect, nodes: Map<string, NodeState[]> | null): Difference[] {
  return Object.entries(expected).flatMap(([id, state]): Difference[] => {
    const path = `nodes.${id}`;
    if (nodes === null)
      return [{ path, expected: state, actual: null, message: 'cannot be told: the trace does not say' }];
    const reached = nodes.get(id) ?? [];
    const asExpected = state === 'NOT_REACHED' ? reached.length === 0 : reached.every((each) => each === state);
    if (asExpected && (state === 'NOT_REACHED' || reached.length > 0)) return [];
    const actual = reached.length === 0 ? 'NOT_REACHED' : [...new Set(reached)].join(', ');
    return [{ path, expected: state, actual, message: 'differs' }];
  });
}

function timeDifferences({ withinMs }: Expect, tookMs: number | null): Difference[] {
  if (withinMs === undefined || (tookMs !== null && tookMs <= withinMs)) return [];
  const message = tookMs === null ? 'cannot be told' : 'took longer';
  return [{ path: 'withinMs', expected: String(withinMs), actual: tookMs === null ? null : String(tookMs), message }];
}

/** The states of the nodes of a run, every occurrence of each, by id; null when the trace cannot be read to its end. */
function nodesOfTrace(trace: string): Map<string, NodeState[]> | null {
  const { entries, rest } = traceEntries(trace);
  const nodes = new Map<string, NodeState[]>();
  for (const { id, state } of entries) nodes.set(id, [...(nodes.get(id) ?? []), state]);
  return rest === '' && entries.length > 0 ? nodes : null;
}

import type { ItemDetail, ItemHead } from '../cases/batch.ts';
import type { Expect } from '../cases/case.ts';
import { compareData } from '../cases/judging/compare.ts';
import { MAX_DIFFERENCES, shortened } from '../cases/judging/difference.ts';
import { withoutNoise } from '../cases/judging/noise.ts';
import { valueAt } from '../cases/judging/value-at.ts';
import { inData, parsePath } from '../cases/path.ts';
import type { Difference } from '../contract/batches.ts';
import { parseExact } from '../contract/json/exact-json.ts';
import { type ExactValue, stringifyExact } from '../contract/json/raw-number.ts';
import type { Change, NotCompared } from './compare.ts';
import { compare, hadActions } from './compare.ts';
import { type Conclusion, certainPart, doubtsOf, type WayStep } from './conclusion.ts';

/** The verdict on a run: what differs, and what could not be checked. `parting`: where its way and that of the earlier run part. */
type Judgement = Pick<ItemHead, 'verdict' | 'parting'> & Pick<ItemDetail, 'differences' | 'notChecked'>;

/**
 * Judges a run by an earlier one; null: that is not kept any more. `again`: the earlier run, made once more. Where those two differ, a
 * difference is noise; a run with no other difference is noise as a whole.
 */
export function judgeByRun(
  before: Conclusion | null,
  now: Conclusion,
  { ignore, again }: { ignore: readonly string[]; again?: Conclusion | undefined },
): Judgement {
  if (before === null)
    return {
      verdict: 'not-checked',
      differences: [],
      notChecked: [{ part: 'outcome', why: 'not-kept', nodes: [] }],
      parting: null,
    };
  const { kind, changes, notCompared, parting } = compare(before, now, ignore);
  const unsteady = new Set(again && compare(before, again, ignore).changes.map(placeOf));
  const steady = changes.filter((change) => !unsteady.has(placeOf(change)));
  const isNoise = kind === 'changed' && steady.length === 0;
  return {
    verdict: isNoise ? 'noise' : kind === 'unknown' ? 'not-checked' : kind,
    differences: (isNoise ? changes : steady).slice(0, MAX_DIFFERENCES).map(differenceOf),
    notChecked: notCompared,
    parting: parting && { id: parting.id, name: parting.name },
  };
}

const placeOf = ({ part, path }: Change) => `${part} ${path}`;

function differenceOf({ part, path, before, after }: Change): Difference {
  const [expected, actual] = [before, after].map((text) => (text === null ? null : shortened(text)));
  return {
    path: part === 'data' ? inData(path) : part,
    expected: expected ?? null,
    actual: actual ?? null,
    how: 'changed',
  };
}

/** What an expectation is checked with, beside what the run came to. `tookMs`: from dispatch to answer. */
type With = { ignore: readonly string[]; tookMs: number | null };

/** One thing that was expected and is not so; `why` where that is no more than the dry run, or the trace, can tell. */
type Finding = { difference: Difference } | { part: NotCompared['part']; why: NotCompared['why'] };

/**
 * Judges a run by what is expected of it; null asks for nothing but that the rule runs without an error. What follows from a node that a dry
 * run did not call is neither held against the rule nor counted for it.
 */
export function judge(expect: Expect | null, now: Conclusion, { ignore, tookMs }: With): Judgement {
  const wanted = expect ?? {};
  const nodes = doubtsOf(now);
  const ofEnd = [...ofOutcome(wanted, now), ...ofError(wanted, now), ...ofData(wanted, now, ignore)];
  const found = [
    ...(nodes.length === 0 ? ofEnd : notCalled(wanted)),
    ...ofNodes(wanted, now),
    ...ofActions(wanted, now),
    ...ofTime(wanted, tookMs),
  ];
  const differences = found.flatMap((one) => ('difference' in one ? one.difference : [])).slice(0, MAX_DIFFERENCES);
  const notChecked = found.flatMap((one) => ('difference' in one ? [] : [{ ...one, nodes }]));
  const judgement = { differences, notChecked, parting: null };
  const errorWasExpected = wanted.outcome === 'ERROR' || wanted.error !== undefined;
  if (now.error !== null && !errorWasExpected)
    return nodes.length === 0
      ? { ...judgement, verdict: 'error' }
      : { ...judgement, verdict: 'not-checked', notChecked: [{ part: 'error', why: 'not-called', nodes }] };
  if (differences.length > 0) return { ...judgement, verdict: 'failed' };
  if (notChecked.length > 0) return { ...judgement, verdict: 'not-checked' };
  return { ...judgement, verdict: expect === null ? 'ran' : 'passed' };
}

/** What is expected of the end of a run, behind a node that was not called. */
function notCalled({ outcome, error, data, absent = [] }: Expect): Finding[] {
  const parts = {
    outcome: outcome !== undefined,
    error: error !== undefined,
    data: data !== undefined || absent.length > 0,
  };
  return (['outcome', 'error', 'data'] as const).flatMap((part) => (parts[part] ? { part, why: 'not-called' } : []));
}

function ofOutcome({ outcome: expected }: Expect, { outcome: actual, way }: Conclusion): Finding[] {
  if (expected === undefined || expected === actual) return [];
  if (actual === null && way?.length !== 0) return [{ part: 'outcome', why: 'not-told' }];
  return [{ difference: { path: 'outcome', expected, actual, how: 'differs' } }];
}

function ofError({ error: expected }: Expect, { error }: Conclusion): Finding[] {
  if (expected === undefined || error?.includes(expected)) return [];
  const how = error === null ? 'no-error' : 'other-error';
  const actual = error === null ? null : shortened(error);
  return [{ difference: { path: 'error', expected, actual, how } }];
}

function ofData({ data: expected, absent = [] }: Expect, { data }: Conclusion, ignore: readonly string[]): Finding[] {
  if (expected === undefined && absent.length === 0) return [];
  if (data === null) return [{ part: 'data', why: 'not-told' }];
  const differences =
    expected === undefined ? [] : compareData(withoutNoise(parseExact(expected), ignore), withoutNoise(data, ignore));
  const all = [...differences, ...absent.flatMap((path) => presentAt(path, data))];
  return all.map((difference) => ({ difference: { ...difference, path: inData(difference.path) } }));
}

function presentAt(path: string, actual: ExactValue): Difference[] {
  const found = valueAt(actual, parsePath(path) ?? []);
  if (found === undefined) return [];
  return [{ path, expected: null, actual: shortened(stringifyExact(found)), how: 'must-not-be' }];
}

/** Behind a node that was not called nothing is certain, nor is what that node came to; that it was reached is. */
function ofNodes({ nodes: expected = {} }: Expect, now: Conclusion): Finding[] {
  const { way } = now;
  if (Object.keys(expected).length > 0 && (way === null || way.length === 0)) return [{ part: 'way', why: 'not-told' }];
  const { way: certain, goesOn } = certainPart(now);
  const doubts = new Set(doubtsOf(now));
  return Object.entries(expected).flatMap(([id, state]): Finding[] => {
    const isAs = isAsExpected(way ?? [], id, state);
    const reached = statesIn(certain, id);
    const counted = state === 'NOT_REACHED' || !doubts.has(id) ? reached : [];
    if (isAs && (!goesOn || (state !== 'NOT_REACHED' && counted.length > 0))) return [];
    if (goesOn && !counted.some((each) => each !== state)) return [{ part: 'way', why: 'not-called' }];
    const actual = reached.length === 0 ? 'NOT_REACHED' : [...new Set(statesIn(way ?? [], id))].join(', ');
    return [{ difference: { path: `nodes.${id}`, expected: state, actual, how: 'differs' } }];
  });
}

function ofActions({ actions: expected }: Expect, now: Conclusion): Finding[] {
  if (expected === undefined) return [];
  const { as, found } = hadActions(expected, now);
  if (as === null) return [{ part: 'actions', why: doubtsOf(now).length > 0 ? 'not-called' : 'not-told' }];
  const [wanted, actual] = [expected, found].map((ids) => `[${ids.join(', ')}]`);
  return as
    ? []
    : [{ difference: { path: 'actions', expected: wanted ?? null, actual: actual ?? null, how: 'differs' } }];
}

const statesIn = (way: readonly WayStep[], id: string) => way.flatMap((step) => (step.id === id ? step.state : []));

function isAsExpected(way: readonly WayStep[], id: string, state: string): boolean {
  const reached = statesIn(way, id);
  return state === 'NOT_REACHED' ? reached.length === 0 : reached.length > 0 && reached.every((each) => each === state);
}

function ofTime({ withinMs }: Expect, tookMs: number | null): Finding[] {
  if (withinMs === undefined || (tookMs !== null && tookMs <= withinMs)) return [];
  const how = tookMs === null ? 'time-unknown' : 'took-longer';
  const actual = tookMs === null ? null : String(tookMs);
  return [{ difference: { path: 'withinMs', expected: String(withinMs), actual, how } }];
}

import type { ItemDetail } from '../cases/batch.ts';
import { withoutNoise } from '../cases/judging/noise.ts';
import { type ExactValue, isExactObject } from '../contract/json/raw-number.ts';
import { HIDDEN } from '../privacy/hide-at.ts';
import { actionsOf, type Conclusion, certainPart, changedIn, doubtsOf, type WayStep } from './conclusion.ts';
import { differingValues } from './differing-values.ts';

/** The kinds of difference, the gravest first. */
const changedParts = ['outcome', 'error', 'actions', 'data'] as const;
type ChangedPart = (typeof changedParts)[number];

/** One difference; values as exact text, null where there is nothing. `path`: of a value in the data. */
export type Change = { part: ChangedPart; path: string; before: string | null; after: string | null };

/** What could not be compared, and the nodes that are why: a dry run did not call them, or the trace does not tell. `not-kept`: the
 * earlier run is gone. */
export type NotCompared = ItemDetail['notChecked'][number];

/**
 * How a run relates to an earlier one. `changed` has at least one difference that is certain; `same` has nothing that could not be
 * compared; all else is `unknown`.
 */
export type Comparison = {
  kind: 'same' | 'changed' | 'unknown';
  changes: Change[];
  notCompared: NotCompared[];
  /** The first node at which the ways part; null where they do not, or the traces do not say. */
  parting: WayStep | null;
};

/** Compares what two runs came to. Data at the paths to `ignore` counts for nothing. */
export function compare(before: Conclusion, after: Conclusion, ignore: readonly string[] = []): Comparison {
  const nodes = [...new Set([before, after].flatMap(doubtsOf))];
  const found: Finding[] = [
    ...(nodes.length > 0
      ? (['outcome', 'data'] as const).map((part) => ({ part, why: 'not-called' as const, nodes }))
      : [compareOutcomes(before, after), compareErrors(before, after), ...compareData(before, after, ignore)]),
    compareActions(before, after),
  ].filter((one) => one !== null);
  const changes = found
    .filter((one) => 'path' in one)
    .sort((a, b) => changedParts.indexOf(a.part) - changedParts.indexOf(b.part));
  const notCompared = found.filter((one) => 'why' in one);
  const kind = changes.length > 0 ? 'changed' : notCompared.length > 0 ? 'unknown' : 'same';
  const parting = before.way === null || after.way === null ? null : partingOf(before.way, after.way);
  return { kind, changes, notCompared, parting };
}

type Finding = Change | NotCompared;

const changed = (part: ChangedPart, before: string | null, after: string | null): Finding => ({
  ...{ part, path: '', before, after },
});
const notTold = (part: NotCompared['part'], nodes: string[] = []): Finding => ({ part, why: 'not-told', nodes });

function compareOutcomes(before: Conclusion, after: Conclusion): Finding | null {
  const isOther = before.outcome !== after.outcome;
  if (before.outcome !== null && after.outcome !== null)
    return isOther ? changed('outcome', before.outcome, after.outcome) : null;
  const [old, now] = [before, after].map(({ way }) => way?.length === 0);
  if (old && now) return null; // both were outside the time window of the rule
  const isKnown = old !== now && before.way !== null && after.way !== null;
  return isKnown ? changed('outcome', before.outcome, after.outcome) : notTold('outcome');
}

function compareErrors(before: Conclusion, after: Conclusion): Finding | null {
  return before.error === after.error ? null : changed('error', before.error, after.error);
}

function compareData(before: Conclusion, after: Conclusion, ignore: readonly string[]): Finding[] {
  if (before.data === null || after.data === null) return [notTold('data')];
  const written = writtenBy([before, after], ignore);
  const found = differingValues(written).filter(({ values }) => !values.includes(HIDDEN));
  const changes = found.map(
    ({ path, values: [old = null, now = null] }): Change => ({
      ...{ part: 'data', path, before: old, after: now },
    }),
  );
  return written.some(holdsHidden) ? [...changes, { part: 'data', why: 'hidden', nodes: [] }] : changes;
}

/** Of the data after several runs, the members that one of them changed; undefined where the answer has no data. */
export function writtenBy(runs: readonly Conclusion[], ignore: readonly string[] = []): (ExactValue | undefined)[] {
  const keys = new Set(runs.flatMap(({ changed }) => [...changed]));
  return runs.map(({ data }) => {
    const written = changedIn({ data, changed: keys });
    return written === null ? undefined : withoutNoise(written, ignore);
  });
}

const HIDDEN_TEXT: unknown = JSON.parse(HIDDEN);

function holdsHidden(value: ExactValue | undefined): boolean {
  if (Array.isArray(value)) return value.some(holdsHidden);
  if (isExactObject(value)) return Object.values(value).some(holdsHidden);
  return value === HIDDEN_TEXT;
}

/**
 * The actions of both runs, as far as each is certain: of a dry run up to the first that it did not call. Where nodes ran in parallel their
 * order means nothing.
 */
function compareActions(before: Conclusion, after: Conclusion): Finding | null {
  const [old, now] = [certainActions(before, after.uncalled), certainActions(after, before.uncalled)];
  const anyOrder = [before, after].some(hasNoOrder);
  if (differForSure(old, now, anyOrder)) return changed('actions', listed(old.known), listed(now.known));
  const nodes = unmatched(old.unknown, now.unknown);
  return old.isWhole && now.isWhole && nodes.length === 0
    ? null
    : notTold('actions', old.isWhole && now.isWhole ? nodes : []);
}

const hasNoOrder = ({ way }: Conclusion) => way?.some(({ name }) => name.startsWith('P-')) ?? false;

/** Whether a run had these actions, in this order; null where that cannot be told. `found`: those that it reached. */
export function hadActions(expected: readonly string[], run: Conclusion): { as: boolean | null; found: string[] } {
  const { known: found, unknown, isWhole } = actionsOf(run, expected);
  const anyOrder = hasNoOrder(run);
  const isSame = anyOrder ? unmatched(found, expected).length === 0 : found.join() === expected.join();
  const wanted = { known: [...expected], unknown: [], isWhole: true, goesOn: false };
  const certain = certainActions(run, expected);
  if (differForSure(wanted, certain, anyOrder)) return { as: false, found };
  return { as: isSame && isWhole && !certain.goesOn && unknown.length === 0 ? true : null, found };
}

type Actions = ReturnType<typeof actionsOf>;
/** `goesOn`: more may have followed. */
type CertainActions = Actions & { goesOn: boolean };

function certainActions(conclusion: Conclusion, also: readonly string[]): CertainActions {
  const { way, goesOn } = certainPart(conclusion);
  return { ...actionsOf(conclusion.way === null ? conclusion : { ...conclusion, way }, also), goesOn };
}

function differForSure(old: CertainActions, now: CertainActions, anyOrder: boolean): boolean {
  if (!old.isWhole || !now.isWhole) return false;
  if (!anyOrder && old.known.some((id, index) => index < now.known.length && id !== now.known[index])) return true;
  const missing = (from: Actions, to: CertainActions) => !to.goesOn && lacking(from.known, to.known).length > 0;
  return missing(old, now) || missing(now, old);
}

const listed = (ids: readonly string[]) => (ids.length === 0 ? null : ids.map((id) => `#${id}`).join(' '));

/** The elements of a list that another one does not have as often. */
function lacking<T>(from: readonly T[], to: readonly T[], keyOf: (each: T) => string = String): T[] {
  const left = new Map<string, number>();
  for (const each of to) left.set(keyOf(each), (left.get(keyOf(each)) ?? 0) + 1);
  return from.filter((each) => {
    const count = left.get(keyOf(each)) ?? 0;
    if (count > 0) left.set(keyOf(each), count - 1);
    return count === 0;
  });
}

const unmatched = (one: readonly string[], other: readonly string[]) => [
  ...new Set([...lacking(one, other), ...lacking(other, one)]),
];

/**
 * The first node that one of two runs has otherwise, in the order in which nodes end. Each is compared as often as it ran: nodes in parallel
 * end in any order.
 */
function partingOf(before: readonly WayStep[], after: readonly WayStep[]): WayStep | null {
  return lacking(after, before, stepKey)[0] ?? lacking(before, after, stepKey)[0] ?? null;
}

const stepKey = ({ id, state }: WayStep) => `${id} ${state}`;

import { DATA_FIELD } from '../contract/data-field.ts';
import { outcomeOf } from '../contract/endings/outcome-of-rule.ts';
import { parseExact, scanJson } from '../contract/json/exact-json.ts';
import type { Member } from '../contract/json/json-tokens.ts';
import { type ExactObject, type ExactValue, isExactObject } from '../contract/json/raw-number.ts';
import { digits, field, list } from '../contract/json/read-exact.ts';
import { type NodeState, traceEntries } from '../contract/trace-entries.ts';
import type { RanTo } from '../contract/verdict.ts';
import { isLeaf, isParallel, type Occurrence, occurrencesOf, type TreeNode } from '../reasoning/tree.ts';
import { sameValue } from './differing-values.ts';

/** What one node came to, in the order in which nodes ended. `STUBBED`: a stub in a dry run stood in for it. */
export type WayStep = { id: string; name: string; state: WayState };
type WayState = NodeState | 'STUBBED';

/**
 * What is known about nodes without running them. `acts`: whether a leaf has effects; null where nothing says so. `failedBefore`: whether a
 * node that failed did so because its condition failed. `hidden`: whether actions may have run that the trace does not list: below a parallel
 * node that ended before its children, or whose children one published SDK does not list.
 */
export type NodeFacts = {
  acts: (step: WayStep) => boolean | null;
  failedBefore: (step: WayStep, way: readonly WayStep[]) => boolean | null;
  hidden: (way: readonly WayStep[]) => boolean;
};

/** What a run came to. `data`, `way`: null where the answer does not say. */
export type Conclusion = {
  /** Null: the trace does not say. ERROR: the client reports a failure. */
  outcome: RanTo | null;
  error: string | null;
  /** The data after the run. */
  data: ExactObject | null;
  /** The top-level keys that the run added, changed or removed. */
  changed: ReadonlySet<string>;
  way: readonly WayStep[] | null;
  /** Of a dry run: the nodes with effects that it reached and did not call, in that order. */
  uncalled: readonly string[];
  facts: NodeFacts;
};

/** An answered run: its input and the client's answer as JSON text. */
type AnsweredRun = { input: string; body: string; success: boolean; facts?: NodeFacts };

const RELATION = /^(?:P-)?(?:None|And|True|All|Any)$/;

/** Without a tree, the names in the trace tell relations from leaves, and nothing tells which leaves act. */
const factsOfTrace: NodeFacts = {
  acts: ({ name }) => (RELATION.test(name) ? false : null),
  failedBefore: () => null,
  hidden: (way) => way.some(({ name }) => name.startsWith('P-')),
};

/** The facts that trees of the rule tell, those of several versions together. `own`: the versions that the run may have run on. */
export function factsOfTrees(roots: readonly TreeNode[], own = roots): NodeFacts {
  if (roots.length === 0) return factsOfTrace;
  const known = new Map<string, boolean>();
  for (const { node } of roots.flatMap(occurrencesOf))
    known.set(node.id, known.get(node.id) === true || node.type === 'LeafResult');
  const conditions = new Map(
    own.flatMap(occurrencesOf).flatMap(({ node, forward }) => (forward ? [[node.id, forward.node.id] as const] : [])),
  );
  const parallel = own.flatMap((root) => parallelOf(root, (id) => known.get(id) === true));
  return {
    acts: (step) => known.get(step.id) ?? factsOfTrace.acts(step),
    failedBefore: (step, way) => {
      const condition = conditions.get(step.id);
      return condition !== undefined && way.some(({ id, state }) => id === condition && state === 'ERROR');
    },
    hidden: (way) => {
      const listed = counts(way);
      const ran = counts(way.filter(wasEvaluated));
      return parallel.some(({ id, acting }) => acting.some((child) => (listed.get(child) ?? 0) < (ran.get(id) ?? 0)));
    },
  };
}

/** The parallel nodes of a tree, each with its children below which something acts: all of them began when it ran. */
function parallelOf(root: TreeNode, acts: (id: string) => boolean) {
  const places = occurrencesOf(root);
  const actsBelow = ({ index, size }: Occurrence) =>
    places.slice(index, index + size).some(({ node }) => isLeaf(node) && acts(node.id));
  return places
    .filter(({ node }) => isParallel(node))
    .map(({ node, children }) => ({ id: node.id, acting: children.filter(actsBelow).map((child) => child.node.id) }));
}

function counts(way: readonly WayStep[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { id } of way) found.set(id, (found.get(id) ?? 0) + 1);
  return found;
}

/** What an answered run came to, of every kind of client. */
export function conclusionOf({ input, body, success, facts = factsOfTrace }: AnsweredRun): Conclusion {
  const scanned = scanJson(body);
  const members = new Map(scanned.kind === 'complete' ? scanned.members.map((member) => [member.key, member]) : []);
  const error = errorIn(members.get('error'));
  const hasFailed = !success || error !== null;
  const before = objectIn(input);
  const data = dataAfter(members.get(DATA_FIELD)?.raw, { before, hasFailed });
  const effects = members.get('effects');
  const reported = effects?.kind === 'object' ? parseExact(effects.raw) : undefined;
  const idsIn = (name: string) => list(field(reported, name)).flatMap((id) => digits(id) ?? []);
  return {
    outcome: hasFailed ? 'ERROR' : outcomeOf(members.get('process'), members.get('outcome')),
    error: hasFailed ? (error ?? 'The client reports a failure without a reason.') : null,
    data,
    changed: data === null ? new Set() : changedKeys(before, data),
    way: wayIn(members.get('process'), { hasFailed, stubbed: new Set(idsIn('stubbed')) }),
    uncalled: idsIn('assumed'),
    facts,
  };
}

/** Whether a node ran: one outside its time window, or whose condition was FALSE, only stands in the trace. */
function wasEvaluated({ state }: Pick<WayStep, 'state'>): boolean {
  return state !== 'OUT_OF_TIME' && state !== 'REJECTED' && state !== 'STUBBED';
}

/**
 * The nodes with effects that ran, in order; in a dry run those that it reached. `also`: nodes that another run of the rule found to act.
 * `unknown`: the leaves that ran and of which nothing says whether they act.
 */
export function actionsOf(
  { way, uncalled, facts }: Conclusion,
  also: readonly string[] = [],
): { known: string[]; unknown: string[]; isWhole: boolean } {
  const ran = (way ?? []).filter(wasEvaluated);
  const withEffects = new Set([...uncalled, ...also]);
  const isKnown = (step: WayStep) => withEffects.has(step.id) || facts.acts(step) === true;
  const failedBefore = (step: WayStep) => (step.state === 'ERROR' ? facts.failedBefore(step, ran) : false);
  const acting = ran.filter((step) => isKnown(step) || facts.acts(step) === null);
  const isSure = (step: WayStep) => isKnown(step) && failedBefore(step) === false;
  return {
    known: acting.filter(isSure).map(({ id }) => id),
    unknown: acting.filter((step) => !isSure(step) && failedBefore(step) !== true).map(({ id }) => id),
    isWhole: way !== null && !facts.hidden(way),
  };
}

/** The nodes whose result a dry run made up: what comes after the first of them follows from that. */
export const doubtsOf = ({ way, uncalled }: Pick<Conclusion, 'way' | 'uncalled'>): string[] => [
  ...uncalled,
  ...(way ?? []).filter(({ state }) => state === 'STUBBED').map(({ id }) => id),
];

/** The way up to the first node whose result was made up, with that node. `goesOn`: more may have followed. */
export function certainPart(conclusion: Pick<Conclusion, 'way' | 'uncalled'>): { way: WayStep[]; goesOn: boolean } {
  const doubts = new Set(doubtsOf(conclusion));
  const way = [...(conclusion.way ?? [])];
  const first = way.findIndex((step) => doubts.has(step.id) && (step.state === 'STUBBED' || wasEvaluated(step)));
  return first === -1
    ? { way, goesOn: conclusion.way === null || doubts.size > 0 }
    : { way: way.slice(0, first + 1), goesOn: true };
}

/** The states of each node, every occurrence of it; null where the trace does not say. */
export function statesOf({ way }: Pick<Conclusion, 'way'>): Record<string, WayState[]> | null {
  if (way === null || way.length === 0) return null;
  const states = new Map<string, WayState[]>();
  for (const { id, state } of way) states.set(id, [...(states.get(id) ?? []), state]);
  return Object.fromEntries(states);
}

/** A published client writes no trace of a run that failed, and none or an empty one of a run outside the rule's time window. */
function wayIn(
  process: Member | undefined,
  { hasFailed, stubbed }: { hasFailed: boolean; stubbed: ReadonlySet<string> },
): WayStep[] | null {
  if (process?.kind !== 'string') return hasFailed || (process !== undefined && process.kind !== 'null') ? null : [];
  const { entries, rest } = traceEntries(String(JSON.parse(process.raw)));
  if (rest !== '' || (hasFailed && entries.length === 0)) return null;
  return entries.map(({ id, name, state }) => ({ id, name, state: stubbed.has(id) ? 'STUBBED' : state }));
}

/** A published client writes no data after a failure; the service then shows an empty object. */
function dataAfter(
  raw: string | undefined,
  { before, hasFailed }: { before: ExactObject; hasFailed: boolean },
): ExactObject | null {
  const data = raw === undefined ? null : objectIn(raw);
  const isEmpty = data === null || Object.keys(data).length === 0;
  return hasFailed && isEmpty && Object.keys(before).length > 0 ? null : (data ?? {});
}

function changedKeys(before: ExactObject, after: ExactObject): Set<string> {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return new Set([...keys].filter((key) => !sameValue(field(before, key), field(after, key))));
}

/** The members of the data that were added or changed. */
export function changedIn({ data, changed }: Pick<Conclusion, 'data' | 'changed'>) {
  return data && Object.fromEntries(Object.entries(data).filter(([key]) => changed.has(key)));
}

function objectIn(raw: string): ExactObject {
  const value: ExactValue = parseExact(raw);
  return isExactObject(value) ? value : {};
}

function errorIn(member: Member | undefined): string | null {
  if (member === undefined || member.kind === 'null') return null;
  return member.kind === 'string' ? String(JSON.parse(member.raw)) || null : member.raw;
}

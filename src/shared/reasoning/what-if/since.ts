import { valueAt } from '../../json-tree/value-at.ts';
import { pathOfKey } from '../key-path.ts';
import { isOutside } from '../time-window.ts';
import type { Decision } from '../trace/node-trace.ts';
import { isLeaf, type Occurrence, occurrencesOf, type TimeWindow, type TreeNode } from '../tree.ts';
import { createWhatIf } from './compute.ts';
import { topOf } from './leaf-in-run.ts';
import { decisionIn, only } from './outcomes.ts';
import type { RunToChange } from './smallest-change.ts';

/** A rule as one version had it. `timeWindow`: of the rule itself. */
export type RuleVersion = { version: string; root: TreeNode | null; timeWindow: TimeWindow | null };

/**
 * What a rule would have come to on one version. `NOTHING`: nothing of it would have run. Null: that cannot be told, because of the leaves
 * `unknown`. `assumed`: consequences that would have to come to TRUE for it.
 */
type Computed = { outcome: Decision | 'NOTHING' | null; assumed: Occurrence[]; unknown: Occurrence[] };

/**
 * Computes what another version of a rule would have come to for the input of a run. A leaf that is defined as it was keeps its result, unless
 * it reads what any leaf writes; one that declares its comparison is computed; of others nothing is said.
 */
export function outcomeOn(
  { input, occurrences: ran, ...run }: RunToChange,
  { root, timeWindow }: Pick<RuleVersion, 'root' | 'timeWindow'>,
): Computed {
  if (root === null || (timeWindow && isOutside(timeWindow, run.ranAt)))
    return { outcome: 'NOTHING', assumed: [], unknown: [] };
  const occurrences = occurrencesOf(root);
  const inputAt = (key: string, nested: boolean) =>
    input === null ? undefined : valueAt(input, pathOfKey(key, nested));
  const version = { was: sameLeafIn(ran, run.nodeTraces), written: writtenIn(ran, run.nodeTraces) };
  const whatIf = createWhatIf({ ...run, occurrences, input: inputAt, version });
  const computed = whatIf.compute(new Map());
  const outcome = computed.isDisturbed ? null : decisionIn(computed.outcomes);
  const [start] = occurrences;
  const isBlind = !run.tracesReads && [...ran, ...occurrences].some(mayWriteAnything);
  if (outcome === null || (isBlind && start && JSON.stringify(start.node) !== JSON.stringify(ran[0]?.node)))
    return { outcome: null, assumed: [], unknown: unknownIn(computed.at) };
  const assumed = computed.assumed.filter((at) => whatIf.compute(new Map(), at).outcomes !== only(outcome));
  return { outcome, assumed, unknown: [] };
}

/** Without a trace of the keys, a leaf that does not say which ones it has may have any. */
const mayWriteAnything = ({ node }: Occurrence): boolean =>
  isLeaf(node) && node.type !== 'LeafFlow' && (node.keys.length === 0 || node.keys.some(({ dynamic }) => dynamic));

function writtenIn(ran: readonly Occurrence[], nodeTraces: RunToChange['nodeTraces']): Set<string> {
  const traced = [...nodeTraces.values()].flatMap(({ writes }) => writes);
  const declared = ran.flatMap(({ node }) => node.keys.filter(({ direction }) => direction !== 'read'));
  return new Set([...traced, ...declared].map(({ key }) => topOf(key)));
}

/** The leaves of a run by their definition. Where one came to several results, which of them another version had is not known. */
function sameLeafIn(ran: readonly Occurrence[], nodeTraces: RunToChange['nodeTraces']) {
  const defined = ({ node: { id, type, className, values, errorState, state } }: Occurrence) =>
    JSON.stringify([id, type, className, values, errorState, state]);
  const leaves = Map.groupBy(
    ran.filter((at) => isLeaf(at.node) && nodeTraces.has(at)),
    defined,
  );
  return (at: Occurrence): Occurrence | null => {
    if (!isLeaf(at.node)) return null;
    const [first = null, ...others] = leaves.get(defined(at)) ?? [];
    const result = (of: Occurrence | null) => {
      const nodeTrace = of && nodeTraces.get(of);
      return nodeTrace && `${nodeTrace.outcome} ${nodeTrace.inverted}`;
    };
    return others.every((other) => result(other) === result(first)) ? first : null;
  };
}

function unknownIn(at: ReadonlyMap<Occurrence, number>): Occurrence[] {
  return [...at].filter(([{ node }, outcomes]) => isLeaf(node) && decisionIn(outcomes) === null).map(([of]) => of);
}

/** One version that was looked at. */
export type VersionOutcome = Computed & RuleVersion;
/** `since`: the first version with the outcome of the run; `from`: the last that came to another one, or of which it cannot be told. */
export type Since = { outcome: Decision; since: VersionOutcome; from: VersionOutcome | null; looked: VersionOutcome[] };

/**
 * Finds the version since which a rule comes to what a run came to. `versions`: the newest first, beginning with that of the run. Every
 * version counts, for an outcome may change more than once. Null where even the version of the run cannot be computed.
 */
export function sinceWhen(run: RunToChange, outcome: Decision, versions: readonly RuleVersion[]): Since | null {
  const looked: VersionOutcome[] = [];
  for (const version of versions) {
    const before = looked.at(-1);
    const computed = before && isSameRule(before, version) ? before : outcomeOn(run, version);
    looked.push({ ...computed, ...version });
    if (computed.outcome === outcome && computed.assumed.length === 0) continue;
    const since = before ?? null;
    return since && { outcome, since, from: looked.at(-1) ?? null, looked };
  }
  const since = looked.at(-1);
  return since ? { outcome, since, from: null, looked } : null;
}

const isSameRule = (one: RuleVersion, other: RuleVersion) =>
  JSON.stringify([one.root, one.timeWindow]) === JSON.stringify([other.root, other.timeWindow]);

const AT_ONCE = 8;

/**
 * Reads version after version before the one of the run, so many at once, until one came to something else. `read`: null for a version that nobody
 * has any more, or in which the rule was not there.
 */
export async function searchSince(
  run: RunToChange,
  { outcome, newest }: { outcome: Decision; newest: RuleVersion },
  read: (version: string) => Promise<RuleVersion | null>,
): Promise<Since | null> {
  const readFrom = (from: bigint) => {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => from - BigInt(index)).filter((number) => number > 0n);
    const reads = Promise.all(numbers.map((number) => read(String(number))));
    reads.catch(() => {}); // those that are read ahead may not be waited for
    return reads;
  };
  const looked: VersionOutcome[] = [];
  let last = newest;
  let next = BigInt(newest.version) - 1n;
  for (let reads = readFrom(next); ; ) {
    const found = await reads;
    next -= BigInt(AT_ONCE);
    // Most changes are found among the first; behind these, the next ones are read while these are computed.
    const ahead = looked.length === 0 ? null : readFrom(next);
    const older = found.slice(0, found.includes(null) ? found.indexOf(null) : undefined).filter((one) => one !== null);
    // All before came to the same.
    const since = sinceWhen(run, outcome, [last, ...older]);
    if (since === null) return null;
    looked.push(...since.looked.slice(looked.length === 0 ? 0 : 1));
    last = older.at(-1) ?? last;
    if (since.from !== null || older.length < AT_ONCE) return { ...since, looked };
    reads = ahead ?? readFrom(next);
  }
}

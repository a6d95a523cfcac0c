import type { NodeOfTree, RuleVersions, Tree } from '../../contract/rules-and-clients.ts';
import { isOutside } from '../time-window.ts';
import type { Decision, NodeTrace } from '../trace/node-trace.ts';
import {
  type Flat,
  growTree,
  isLeaf,
  type Occurrence,
  occurrencesOf,
  type TimeWindow,
  type TreeNode,
} from '../tree.ts';
import { createWhatIf } from './compute.ts';
import { keptOf, type RunToChange, topOf } from './leaf-in-run.ts';
import { decisionIn, only } from './outcomes.ts';

/**
 * A rule as one version had it. `root`: undefined where its tree is too large. `timeWindow`: of the rule itself. `digest`: the same for the
 * same rule, null where it is not known.
 */
export type RuleVersion = {
  version: string;
  root: TreeNode | null | undefined;
  timeWindow: TimeWindow | null;
  digest: string | null;
};

export const versionOf = ({ root, rule, digest }: Tree, version: string): RuleVersion => ({
  ...{ version, root, digest, timeWindow: rule?.timeWindow ?? null },
});

/** A version and those before it, the newest first, as the service tells them. `read`: the page that begins with a version, null where none is known. */
export async function* versionsFrom(newest: string, read: (version: string) => Promise<RuleVersions | null>) {
  for (let next: string | null = newest; next !== null; ) {
    const page: RuleVersions | null = await read(next);
    const nodes = new Map<string, Flat<string, NodeOfTree>>();
    for (const { start, nodes: changed, ...version } of page?.items ?? []) {
      for (const { forwardId, sonIds, ...node } of changed) nodes.set(node.id, { node, forwardId, sonIds });
      yield { ...version, root: start === null ? null : growTree(start, (id: string) => nodes.get(id)) };
      await new Promise((resolve) => setTimeout(resolve)); // a browser draws and takes clicks between two versions
    }
    next = page?.nextCursor ?? null;
  }
}

/** What the leaves of a version came to that were run for the same input without effects, as far as no effect that was left out comes before. */
export type Tried = {
  occurrences: readonly Occurrence[];
  nodeTraces: ReadonlyMap<Occurrence, NodeTrace>;
  isCertain: (at: Occurrence) => boolean;
};

/**
 * What a rule would have come to on one version. `NOTHING`: nothing of it would have run. Null: that cannot be told, because of the leaves
 * `unknown`. `assumed`: consequences that would have to come to TRUE for it. `tried`: leaves were run for it. `refused`: none were, because on the
 * rules of the run itself they came to something else at this place.
 */
type Computed = {
  outcome: Decision | 'NOTHING' | null;
  assumed: Occurrence[];
  unknown: Occurrence[];
  tried?: true;
  refused?: Occurrence;
};

type Rule = Pick<RuleVersion, 'root' | 'timeWindow'>;

/**
 * Computes what other versions of a rule would have come to for the input of a run. A leaf that is defined as it was keeps its result, unless
 * it reads what any leaf writes; one that was tried has that result; one that declares its comparison is computed; of others nothing is said.
 */
export function createOutcomeOn(run: RunToChange) {
  const { occurrences: ran, nodeTraces } = run;
  const was = sameLeafIn(ran, nodeTraces);
  const written = writtenIn(ran, nodeTraces);

  return ({ root, timeWindow }: Rule, tried: Tried | null = null): Computed => {
    if (root === undefined) return { outcome: null, assumed: [], unknown: [] };
    if (root === null || (timeWindow && isOutside(timeWindow, run.ranAt)))
      return { outcome: 'NOTHING', assumed: [], unknown: [] };
    const occurrences = tried?.occurrences ?? occurrencesOf(root);
    const whatIf = createWhatIf({ ...run, occurrences }, { was, written, tried: resultsOf(tried) });
    const computed = whatIf.compute(new Map());
    const outcome = computed.isDisturbed ? null : decisionIn(computed.outcomes);
    const [start] = occurrences;
    const isBlind = !run.tracesReads && [...ran, ...occurrences].some(mayWriteAnything);
    if (outcome === null || (isBlind && start && JSON.stringify(start.node) !== JSON.stringify(ran[0]?.node)))
      return { outcome: null, assumed: [], unknown: unknownIn(computed.at) };
    const assumed = computed.assumed.filter((at) => whatIf.compute(new Map(), at).outcomes !== only(outcome));
    return { outcome, assumed, unknown: [] };
  };
}

/** The results of the leaves that were tried. */
function resultsOf(tried: Tried | null) {
  return (at: Occurrence): Decision | null => {
    const nodeTrace = tried?.isCertain(at) ? tried.nodeTraces.get(at) : undefined;
    return tried && nodeTrace ? keptOf(at, nodeTrace, tried.nodeTraces) : null;
  };
}

/** Runs the leaves of a version for the input of a run, without effects; null where nobody can. */
export type Try = (version: RuleVersion) => Promise<Tried | null>;

/**
 * The same, and where a version cannot be computed its leaves are tried. They count only if on the rules of the run they come to what that came
 * to: otherwise they, or what they look up, have changed since.
 */
export function createOutcomeOf(run: RunToChange, newest: RuleVersion, attempt: Try = async () => null) {
  const outcomeOn = createOutcomeOn(run);
  const attemptOnce = oncePerDigest(attempt);
  /** Where the leaves came to something else than in the run. */
  const differsAt = ({ occurrences, nodeTraces, isCertain }: Tried) =>
    occurrences.find((at, index) => {
      const [now, ran] = [isCertain(at) ? nodeTraces.get(at) : undefined, run.occurrences[index]];
      return now !== undefined && (ran === undefined || run.nodeTraces.get(ran)?.outcome !== now.outcome);
    });
  return oncePerDigest(async (version): Promise<Computed> => {
    const computed = outcomeOn(version);
    if (computed.outcome !== null) return computed;
    const ofNewest = await attemptOnce(newest);
    const refused = ofNewest && differsAt(ofNewest);
    if (refused) return { ...computed, refused };
    const tried = ofNewest && (await attemptOnce(version));
    return tried === null ? computed : { ...outcomeOn(version, tried), tried: true };
  });
}

/** Versions with the same digest have the same rule: what is found of the first of them counts for all. */
function oncePerDigest<T>(find: (version: RuleVersion) => Promise<T>) {
  const known = new Map<string, Promise<T>>();
  return (version: RuleVersion): Promise<T> => {
    const key = version.digest ?? version.version;
    const found = known.get(key) ?? find(version);
    known.set(key, found);
    return found;
  };
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
 * Finds the version since which a rule comes to what a run came to: looks at every version before the one of the run, for an outcome may change
 * more than once, until one came to something else. `versionsFrom`: a version and those before it, as far as they can be read. Null where even
 * that of the run cannot be computed.
 */
export async function searchSince(
  run: RunToChange,
  { outcome, newest }: { outcome: Decision; newest: RuleVersion },
  {
    versionsFrom,
    attempt,
  }: { versionsFrom: (version: string) => AsyncIterable<RuleVersion>; attempt?: Try | undefined },
): Promise<Since | null> {
  const outcomeOf = createOutcomeOf(run, newest, attempt);
  const looked: VersionOutcome[] = [];
  for await (const version of downFrom(newest, versionsFrom)) {
    const before = looked.at(-1);
    const now = { ...(await outcomeOf(version)), ...version };
    looked.push(now);
    if (now.outcome === outcome && now.assumed.length === 0) continue;
    return before ? { outcome, since: before, from: now, looked } : null;
  }
  const since = looked.at(-1);
  return since ? { outcome, since, from: null, looked } : null;
}

/** The version of the run, which is known even where it can no longer be read, and then those before it. */
async function* downFrom(newest: RuleVersion, versionsFrom: (version: string) => AsyncIterable<RuleVersion>) {
  yield newest;
  const before = BigInt(newest.version) - 1n;
  if (before > 0n) yield* versionsFrom(`${before}`);
}

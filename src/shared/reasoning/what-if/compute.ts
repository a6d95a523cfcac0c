import type { Json } from '../../json-tree/read-json.ts';
import { valueAt } from '../../json-tree/value-at.ts';
import { type Condition, fulfils } from '../comparison.ts';
import { pathOfKey, placeOf } from '../key-path.ts';
import { isOutside } from '../time-window.ts';
import { decisionOf } from '../trace/node-trace.ts';
import { isLeaf, isParallel, type Occurrence } from '../tree.ts';
import {
  inRun,
  type Leaf,
  leafIn,
  type OtherVersion,
  type RunThatWas,
  type RunToChange,
  topOf,
} from './leaf-in-run.ts';
import * as outcome from './outcomes.ts';

/** The computed result of a rule. */
export type Computed = {
  /** What the rule may come to. */
  outcomes: outcome.Outcomes;
  /** A leaf reads what another one writes that would not do what it did: nothing can be said at all. */
  isDisturbed: boolean;
  /** What each occurrence may come to that its parent may run. */
  at: ReadonlyMap<Occurrence, outcome.Outcomes>;
  /** Those of them that would run: no condition and no time window keeps them from it. `false`: they may. */
  ran: ReadonlyMap<Occurrence, boolean>;
  /** Consequences that did not run as they would: they count as TRUE, as in a dry run. */
  assumed: Occurrence[];
  /** Conditions that have no value to compare, and do not declare what they come to without one. */
  undeclared: Occurrence[];
};

/** Keys with the values they would have, by where they stand. */
type Assignment = ReadonlyMap<string, { key: string; value: Json }>;

/** A rule while it is computed. */
type World = {
  run: RunThatWas;
  leaves: ReadonlyMap<Occurrence, Leaf>;
  assignment: Assignment;
  not: Occurrence | null;
  /** The keys that have another value. */
  changed: ReadonlySet<string>;
  at: Map<Occurrence, outcome.Outcomes>;
  ran: Map<Occurrence, boolean>;
  assumed: Occurrence[];
  undeclared: Occurrence[];
  /** Leaves that would not do what they did. */
  different: Set<Leaf>;
};

/**
 * Computes what a rule would have come to with other values in its input, from the result of the run. A leaf that declares its comparison
 * is computed again. Another keeps its result if nothing that it reads would be another. Of all else nothing is said.
 */
export function createWhatIf({ input, ...asked }: RunToChange, version?: OtherVersion) {
  const values = new Map<string, Json | undefined>();
  const inputAt = (key: string, nested: boolean) => {
    const place = placeOf({ key, nested });
    if (!values.has(place)) values.set(place, input === null ? undefined : valueAt(input, pathOfKey(key, nested)));
    return values.get(place);
  };
  const run: RunThatWas = { ...asked, input: inputAt, version };
  const leaves = new Map(
    run.occurrences.filter(({ node }) => isLeaf(node)).map((at) => [at, leafIn(at, run)] as const),
  );
  const before = version?.written ?? [];
  const written = new Set([...before, ...[...leaves.values()].flatMap(({ writes }) => writes.map(topOf))]);
  // In another version other leaves may write them, and at another time.
  const uncertain = version ? written : [];
  for (const leaf of leaves.values())
    if (leaf.condition && written.has(topOf(leaf.condition.key))) leaf.condition = null;
  const [root] = run.occurrences;

  return {
    inputAt,
    /** `not`: a consequence that counts as FALSE. */
    compute(assignment: Assignment, not: Occurrence | null = null): Computed {
      const changed = new Set([...uncertain, ...[...assignment.values()].map(({ key }) => topOf(key))]);
      const world: World = {
        ...{ run, leaves, assignment, not, changed },
        ...{ at: new Map(), ran: new Map(), assumed: [], undeclared: [], different: new Set() },
      };
      const outcomes = root ? finalOf(root, world, true) : outcome.ANYTHING;
      const { at, ran, assumed, undeclared } = world;
      return { outcomes, isDisturbed: isDisturbed(world), at, ran, assumed, undeclared };
    },
    /** The comparisons of leaves that declare one; without a list, of all leaves. */
    conditionsOf: (of: Iterable<Occurrence> = leaves.keys()): Condition[] =>
      [...of].flatMap((at) => leaves.get(at)?.condition ?? []),
  };
}

/** What the parent of an occurrence may see. `surely`: the parent runs it for sure. */
function finalOf(at: Occurrence, world: World, surely: boolean): outcome.Outcomes {
  const outcomes = decide(at, world, surely);
  world.at.set(at, outcomes);
  return outcomes;
}

function decide(at: Occurrence, world: World, surely: boolean): outcome.Outcomes {
  const nodeTrace = nodeTraceOf(at, world);
  const stub = nodeTrace?.instead === 'stubbed' ? decisionOf(nodeTrace) : null;
  if (stub !== null) return outcome.only(stub);
  if (nodeTrace?.outcome === 'LEFT_OUT') return outcome.only('NONE');
  if (at.node.state !== 'released') return outcome.ANYTHING;
  if (isOutside(at.node.timeWindow, world.run.ranAt)) return outcome.only('NONE');
  const condition = at.forward ? finalOf(at.forward, world, surely) : outcome.only('NONE');
  const kept = condition & (outcome.only('FALSE') | outcome.FAILS);
  if (kept === condition) return kept;
  world.ran.set(at, surely && kept === 0);
  const leaf = world.leaves.get(at);
  const own = outcome.behind(condition, leaf ? ownOf(at, leaf, world) : relationOf(at, world, surely && kept === 0));
  return kept | (at.node.inverse ? outcome.inverseOf(own) : own);
}

function nodeTraceOf(at: Occurrence, { run }: World) {
  const was = inRun(at, run);
  return was ? run.nodeTraces.get(was) : undefined;
}

function ownOf(at: Occurrence, leaf: Leaf, world: World): outcome.Outcomes {
  const isAssumed = nodeTraceOf(at, world)?.instead === 'assumed';
  const readsSame = leaf.reads !== null && !leaf.reads.some((key) => world.changed.has(topOf(key)));
  if (isAssumed) return assumed(at, world);
  if (leaf.kept !== null && readsSame) return outcome.only(leaf.kept);
  world.different.add(leaf);
  const tried = world.run.version?.tried(at) ?? null;
  if (tried !== null) return outcome.only(tried);
  if (leaf.condition) {
    const { key, nested } = leaf.condition;
    const given = world.assignment.get(placeOf(leaf.condition));
    const value = given ? given.value : world.run.input(key, nested);
    const holds = fulfils(leaf.condition, value);
    if (holds !== null) return outcome.only(holds ? 'TRUE' : 'FALSE');
    if (value !== undefined && value.kind !== 'null') return outcome.ANYTHING;
    world.undeclared.push(at);
    return outcome.EITHER;
  }
  if (at.node.type === 'LeafNone') return outcome.only('NONE');
  return at.node.type === 'LeafResult' ? assumed(at, world) : outcome.ANYTHING;
}

function assumed(at: Occurrence, world: World): outcome.Outcomes {
  world.assumed.push(at);
  return outcome.only(at === world.not ? 'FALSE' : 'TRUE');
}

function relationOf(at: Occurrence, world: World, surely: boolean): outcome.Outcomes {
  const { type } = at.node;
  const [only] = at.children;
  const parallel = isParallel(at.node);
  if (parallel && only && at.children.length === 1) return finalOf(only, world, surely);
  let tally: outcome.Tally = { open: outcome.only('NONE'), ended: 0 };
  for (const child of at.children) {
    if (!parallel && tally.open === 0) break;
    const goesOn = parallel || tally.ended === 0;
    tally = outcome.counted(type, tally, finalOf(child, world, surely && goesOn));
  }
  return outcome.verdictOf(type, tally);
}

function isDisturbed({ leaves, ran, different }: World): boolean {
  for (const [at, leaf] of leaves) if (leaf.kept === null ? ran.has(at) : ran.get(at) !== true) different.add(leaf);
  const uncertain = new Set([...different].flatMap(({ writes }) => writes.map(topOf)));
  if (uncertain.size === 0) return false;
  return [...leaves].some(
    ([at, leaf]) => ran.has(at) && !different.has(leaf) && leaf.reads?.some((key) => uncertain.has(topOf(key))),
  );
}

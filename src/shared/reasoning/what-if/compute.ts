import type { Json } from '../../json-tree/read-json.ts';
import { type Condition, fulfils } from '../comparison.ts';
import { constantOf, kindOf } from '../constant.ts';
import { isOutside } from '../time-window.ts';
import { type Decision, decisionOf, inverted } from '../trace/mark.ts';
import { isLeaf, isParallel, type Occurrence } from '../tree.ts';
import type { RunThatWas } from './leaf-in-run.ts';
import { type Leaf, leafIn, topOf } from './leaf-in-run.ts';

/** The computed result of a rule. */
type Computed = {
  /** Null: that cannot be said. */
  decision: Decision | null;
  /** A leaf reads what another one writes that would not do what it did: nothing can be said at all. */
  isDisturbed: boolean;
  /** The computed result of each occurrence that its parent would run. */
  decisions: ReadonlyMap<Occurrence, Decision | null>;
  /** Those of them that would run: no condition and no time window keeps them from it. */
  ran: ReadonlySet<Occurrence>;
  /** Consequences that did not run as they would: they count as TRUE, as in a dry run. */
  assumed: Occurrence[];
};

/** Keys with the values they would have. */
type Assignment = ReadonlyMap<string, Json>;

/** A rule while it is computed. */
type World = {
  run: RunThatWas;
  leaves: ReadonlyMap<Occurrence, Leaf>;
  assignment: Assignment;
  not: Occurrence | null;
  /** The keys that have another value. */
  changed: ReadonlySet<string>;
  decisions: Map<Occurrence, Decision | null>;
  ran: Set<Occurrence>;
  assumed: Occurrence[];
  /** Leaves that would not do what they did. */
  different: Set<Leaf>;
};

/**
 * Computes what a rule would have come to with other values in its input, from the result of the run. A leaf that declares its comparison
 * is computed again. Another keeps its result if nothing that it reads would be another. Of all else nothing is said.
 */
export function createWhatIf(run: RunThatWas) {
  const leaves = new Map(
    run.occurrences.filter(({ node }) => isLeaf(node)).map((at) => [at, leafIn(at, run)] as const),
  );
  const written = new Set([...leaves.values()].flatMap(({ writes }) => writes.map(topOf)));
  for (const leaf of leaves.values())
    if (leaf.condition && written.has(topOf(leaf.condition.key))) leaf.condition = null;
  const [root] = run.occurrences;

  return {
    /** `not`: a consequence that counts as FALSE. */
    compute(assignment: Assignment, not: Occurrence | null = null): Computed {
      const world: World = {
        ...{ run, leaves, assignment, not, changed: new Set([...assignment.keys()].map(topOf)) },
        ...{ decisions: new Map(), ran: new Set(), assumed: [], different: new Set() },
      };
      const decision = root ? finalOf(root, world) : null;
      const { decisions, ran, assumed } = world;
      const disturbed = isDisturbed(world);
      return { decision: disturbed ? null : decision, isDisturbed: disturbed, decisions, ran, assumed };
    },
    /** The comparisons of leaves that declare one; without a list, of all leaves. */
    conditionsOf: (of: Iterable<Occurrence> = leaves.keys()): Condition[] =>
      [...of].flatMap((at) => leaves.get(at)?.condition ?? []),
  };
}

/** The result that the parent of an occurrence would see; null where that cannot be said. */
function finalOf(at: Occurrence, world: World): Decision | null {
  world.decisions.set(at, null);
  const decision = decide(at, world);
  world.decisions.set(at, decision);
  return decision;
}

function decide(at: Occurrence, world: World): Decision | null {
  const mark = world.run.marks.get(at);
  if (mark?.instead) return decisionOf(mark);
  if (mark?.outcome === 'LEFT_OUT') return 'NONE';
  if (at.node.state !== 'released') return null;
  if (isOutside(at.node.timeWindow, world.run.ranAt)) return 'NONE';
  const condition = at.forward && finalOf(at.forward, world);
  if (at.forward && condition === null) return null;
  if (condition === 'FALSE') return 'FALSE';
  world.ran.add(at);
  const leaf = world.leaves.get(at);
  const own = leaf ? ownOf(at, leaf, world) : relationOf(at, world);
  if (own === null) return null;
  const counted = own === 'NONE' && condition === 'TRUE' ? 'TRUE' : own;
  return at.node.inverse ? inverted(counted) : counted;
}

function ownOf(at: Occurrence, leaf: Leaf, world: World): Decision | null {
  const readsSame = leaf.reads !== null && !leaf.reads.some((key) => world.changed.has(topOf(key)));
  if (leaf.kept !== null && readsSame) return leaf.kept;
  world.different.add(leaf);
  if (leaf.condition) {
    const { key, nested } = leaf.condition;
    const holds = fulfils(leaf.condition, world.assignment.get(key) ?? world.run.input(key, nested));
    if (holds !== null) return holds ? 'TRUE' : 'FALSE';
  }
  if (at.node.type === 'LeafNone') return 'NONE';
  if (at.node.type !== 'LeafResult') return null;
  world.assumed.push(at);
  return at === world.not ? 'FALSE' : 'TRUE';
}

function relationOf(at: Occurrence, world: World): Decision | null {
  const [only] = at.children;
  const parallel = isParallel(at.node);
  if (parallel && only && at.children.length === 1) return finalOf(only, world);
  const kind = kindOf(at.node.type);
  const seen = new Set<Decision>();
  for (const child of at.children) {
    const decision = finalOf(child, world);
    if (decision === null) return null;
    seen.add(decision);
    const settles = (kind === 'And' && decision === 'FALSE') || (kind === 'Any' && decision === 'TRUE');
    if (settles && !parallel) break;
  }
  return constantOf(at.node.type) ?? verdictOf(kind, seen);
}

function isDisturbed({ leaves, ran, different }: World): boolean {
  for (const [at, leaf] of leaves) if ((leaf.kept !== null) !== ran.has(at)) different.add(leaf);
  const uncertain = new Set([...different].flatMap(({ writes }) => writes.map(topOf)));
  if (uncertain.size === 0) return false;
  return [...leaves].some(
    ([at, leaf]) => ran.has(at) && !different.has(leaf) && leaf.reads?.some((key) => uncertain.has(topOf(key))),
  );
}

function verdictOf(kind: string, seen: ReadonlySet<Decision>): Decision {
  const order: Decision[] = kind === 'And' ? ['FALSE', 'TRUE'] : ['TRUE', 'FALSE'];
  return order.find((decision) => seen.has(decision)) ?? 'NONE';
}

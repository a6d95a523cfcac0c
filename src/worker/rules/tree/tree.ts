import type { RuleNode } from '../../../shared/rules/node-file.ts';
import { findCycle } from '../../../shared/rules/walk.ts';
import type { NodeKey } from '../leaves/leaf-keys.ts';
import { createLeafMetadata, type MetadataFor, type Wanted } from '../leaves/leaf-metadata.ts';
import type { ValueType } from '../leaves/leaf-nodes.ts';
import { detailsOf, type NodeDetails } from '../node-details.ts';
import type { Rules } from '../rules.ts';
import { digestOf, releasedOrder } from './graph-walks.ts';
import { edgesIn, type RuleGraph, type Selection, shownRule } from './rule-graph.ts';
import { growTree, type TreeNode } from './tree-node.ts';

/**
 * The released tree of a selection. Print it with `stringifyExact`: ids, times and configured values keep every digit.
 * `shared`, `missing`, `cycle`: ids that occur more than once, that are not released, and along a circle.
 */
type TreeAnswer =
  | {
      kind: 'tree';
      rule: ReturnType<typeof shownRule> | null;
      version: bigint | null;
      root: TreeNode | null;
      keys: KeyUse[];
      shared: bigint[];
      missing: bigint[];
      cycle: bigint[] | null;
      fallback: boolean;
      /** Leaf classes that a client which is asked about does not have; null where none says which it has. */
      missingClasses: string[] | null;
      digest: string | null;
    }
  | { kind: 'too-large' }
  | Exclude<RuleGraph, { kind: 'graph' }>;

type Sources = { rules: Pick<Rules, 'readGraph' | 'readVersion'>; metadataFor: MetadataFor };

/** The tree of a rule, a node, or a node inside a rule, with the keys each leaf accesses by a client's metadata. */
export async function readTree(query: Selection & Wanted, { rules, metadataFor }: Sources): Promise<TreeAnswer> {
  const [graph, version, registrations] = await Promise.all([
    rules.readGraph(query),
    rules.readVersion(query.app),
    metadataFor(query.app),
  ]);
  if (graph.kind !== 'graph') return graph;
  const { rule, start, nodes } = graph;
  const metadata = createLeafMetadata(registrations, query);
  const { details, inTree, grown } = growFrom(graph, metadata);
  if (graph.truncated || grown.kind === 'too-large') return { kind: 'too-large' };
  return {
    kind: 'tree',
    rule: rule && shownRule(rule),
    version,
    root: grown.root,
    keys: keyUsesOf(details.values()),
    shared: [...grown.occurrences].flatMap(([id, count]) => (count > 1 ? [id] : [])),
    missing: [...details.values()].flatMap(({ id, state }) => (state === 'missing' ? [id] : [])),
    cycle: start === null ? null : findCycle(start, edgesIn(nodes)),
    fallback: metadata.fellBack(),
    missingClasses: metadata.classesMissing(inTree),
    digest: digestOf(graph),
  };
}

/** The root of the same tree with the edits of its rule that are not released yet; null where there are none. */
export async function readEditedRoot(
  query: Selection & Wanted,
  { rules, metadataFor }: { rules: Pick<Rules, 'readEdited'>; metadataFor: MetadataFor },
): Promise<TreeNode | null> {
  const { app, ruleId } = query;
  const graph = ruleId === null ? null : await rules.readEdited({ ...query, ruleId });
  if (graph?.kind !== 'graph' || graph.truncated) return null;
  const { grown } = growFrom(graph, createLeafMetadata(await metadataFor(app), query));
  return grown.kind === 'grown' ? grown.root : null;
}

/** The nodes of a graph with their details, and the tree of them. */
function growFrom(
  { start, nodes }: Extract<RuleGraph, { kind: 'graph' }>,
  metadata: ReturnType<typeof createLeafMetadata>,
) {
  const details = new Map<bigint, NodeDetails>();
  const inTree: RuleNode[] = [];
  for (const id of start === null ? [] : releasedOrder(nodes, start)) {
    const reading = nodes.get(id);
    if (reading?.kind === 'found') inTree.push(reading.value);
    details.set(id, detailsOf(id, reading, metadata));
  }
  return { details, inTree, grown: start === null ? noTree : growTree(start, details, nodes) };
}

const noTree = { kind: 'grown', root: null, occurrences: new Map<bigint, number>() } as const;

/** One key of the input data across a whole tree: which nodes read it and which may write it, in tree order. */
type KeyUse = {
  key: string;
  valueType: ValueType;
  dynamic: boolean;
  nested: boolean;
  readers: bigint[];
  writers: bigint[];
};

/** Collects the keys of nodes given in tree order; each node counts once per key. */
function keyUsesOf(nodes: Iterable<{ id: bigint; keys: readonly NodeKey[] }>): KeyUse[] {
  const uses = new Map<string, KeyUse>();
  for (const { id, keys } of nodes) {
    for (const { key, direction, valueType, dynamic, nested } of keys) {
      const use = uses.get(key) ?? { key, valueType, dynamic, nested, readers: [], writers: [] };
      uses.set(key, use);
      if (direction !== 'write' && use.readers.at(-1) !== id) use.readers.push(id);
      if (direction !== 'read' && use.writers.at(-1) !== id) use.writers.push(id);
    }
  }
  return [...uses.values()];
}

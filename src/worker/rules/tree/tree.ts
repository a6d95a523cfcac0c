import { stringifyExact } from '../../../shared/contract/json/raw-number.ts';
import type { NodeKey } from '../../../shared/contract/rules-and-clients.ts';
import { type Grown, growTree } from '../../../shared/reasoning/tree.ts';
import { digestOfNode } from '../../../shared/rules/digest.ts';
import type { RuleNode } from '../../../shared/rules/node-file.ts';
import type { Reading } from '../../../shared/rules/reading.ts';
import { findCycle } from '../../../shared/rules/walk.ts';
import { turn } from '../../files/reading/bulk.ts';
import { createLeafMetadata, type MetadataFor, type Wanted } from '../leaves/leaf-metadata.ts';
import { detailsOf, type NodeDetails } from '../node-details.ts';
import type { Rules } from '../rules.ts';
import { belowOf, digestOf, edgesIn, type RuleGraph, releasedOrder, type Selection, shownRule } from './rule-graph.ts';

const MAX_CHARACTERS = 6 * 1024 * 1024;
const VERSIONS_AT_ONCE = 25;

/** One occurrence of a node. */
export type TreeNode = Grown<NodeDetails>;

type Sources = { rules: Pick<Rules, 'readGraph' | 'readVersion'>; metadataFor: MetadataFor };

/**
 * The released tree of a rule, a node, or a node inside a rule, with the keys each leaf accesses by a client's metadata. Print it with
 * `stringifyExact`: ids, times and configured values keep every digit.
 */
export async function readTree(query: Selection & Wanted, { rules, metadataFor }: Sources) {
  const [graph, version, registrations] = await Promise.all([
    rules.readGraph(query),
    rules.readVersion(query.app),
    metadataFor(query.app),
  ]);
  if (graph.kind !== 'graph') return graph;
  const { rule, start, nodes } = graph;
  const metadata = createLeafMetadata(registrations, query);
  const { details, inTree, root, occurrences } = growFrom(graph, metadata);
  if (graph.truncated || root === undefined) return { kind: 'too-large' as const };
  return {
    kind: 'tree' as const,
    rule: rule && shownRule(rule),
    version,
    root,
    keys: keyUsesOf(details.values()),
    /** Ids that occur more than once. */
    shared: [...occurrences].flatMap(([id, count]) => (count > 1 ? [id] : [])),
    /** Ids that are not released. */
    missing: [...details.values()].flatMap(({ id, state }) => (state === 'missing' ? [id] : [])),
    cycle: start === null ? null : findCycle(start, edgesIn(nodes)),
    fallback: metadata.fellBack(),
    /** Leaf classes that a client which is asked about does not have; null where none says which it has. */
    missingClasses: metadata.classesMissing(inTree),
    digest: digestOf(graph),
  };
}

type Graph = Extract<RuleGraph, { kind: 'graph' }>;

type VersionSources = { rules: Pick<Rules, 'olderRules' | 'readVersion'>; metadataFor: MetadataFor };

/** A selection on a version and on those before it, the newest first, down to the first that is not known. */
export async function readVersions(query: Selection & Wanted & { version: bigint }, sources: VersionSources) {
  for (;;) {
    const released = await sources.rules.readVersion(query.app);
    const versions = await readVersionsOnce(query, sources);
    // After a release in between they are read again: what it changed would count as unchanged since those versions.
    if (released === (await sources.rules.readVersion(query.app))) return versions;
  }
}

async function readVersionsOnce(
  { version, ...query }: Selection & Wanted & { version: bigint },
  { rules, metadataFor }: VersionSources,
) {
  const [rulesOf, registrations] = await Promise.all([rules.olderRules(query.app), metadataFor(query.app)]);
  const metadata = createLeafMetadata(registrations, query);
  const graphs: Graph[] = [];
  const lastTold = new Map<bigint, Reading<RuleNode> | undefined>();
  for (let next = version; ; next--) {
    const graph = await (await rulesOf(next))?.readGraph(query);
    const isKnown = graph?.kind === 'graph' && !graph.truncated;
    if (isKnown && graphs.length < VERSIONS_AT_ONCE) graphs.push(graph);
    else return { items: graphs.map(told), nextCursor: isKnown ? `${next}` : null };
    await turn();
  }

  function told(graph: Graph, index: number) {
    const { rule, start, nodes } = graph;
    const changed = (start === null ? [] : releasedOrder(nodes, start)).filter(
      (id) => !isSame(nodes.get(id), lastTold.get(id)),
    );
    for (const id of changed) lastTold.set(id, nodes.get(id));
    return {
      ...{ version: version - BigInt(index), digest: digestOf(graph), timeWindow: rule?.timeWindow ?? null, start },
      nodes: changed.map((id) => ({ ...detailsOf(id, nodes.get(id), metadata), ...belowOf(nodes, id) })),
    };
  }
}

function isSame(node: Reading<RuleNode> | undefined, other: Reading<RuleNode> | undefined): boolean {
  if (node?.kind !== 'found' || other?.kind !== 'found') return false;
  return node.value.status === other.value.status && digestOfNode(node.value) === digestOfNode(other.value);
}

/** The root of the same tree with the edits of its rule that are not released yet; null where there are none. */
export async function readEditedRoot(
  query: Selection & Wanted,
  { rules, metadataFor }: { rules: Pick<Rules, 'readEdited'>; metadataFor: MetadataFor },
): Promise<TreeNode | null> {
  const { app, ruleId } = query;
  const graph = ruleId === null ? null : await rules.readEdited({ ...query, ruleId });
  if (graph?.kind !== 'graph' || graph.truncated) return null;
  return growFrom(graph, createLeafMetadata(await metadataFor(app), query)).root ?? null;
}

/** The nodes of a graph with their details, and the tree of them; undefined where that is too large. */
function growFrom({ start, nodes }: Graph, metadata: ReturnType<typeof createLeafMetadata>) {
  const details = new Map<bigint, NodeDetails>();
  const inTree: RuleNode[] = [];
  const occurrences = new Map<bigint, number>();
  const sizes = new Map<bigint, number>();
  let characters = 0;
  for (const id of start === null ? [] : releasedOrder(nodes, start)) {
    const reading = nodes.get(id);
    if (reading?.kind === 'found') inTree.push(reading.value);
    details.set(id, detailsOf(id, reading, metadata));
  }
  const at = (id: bigint) => {
    const node = details.get(id);
    const size = sizes.get(id) ?? stringifyExact(node).length;
    sizes.set(id, size);
    occurrences.set(id, (occurrences.get(id) ?? 0) + 1);
    characters += size;
    return node && characters <= MAX_CHARACTERS ? { node, ...belowOf(nodes, id) } : undefined;
  };
  return { details, inTree, occurrences, root: start === null ? null : growTree(start, at) };
}

/** One key of the input data across a whole tree: which nodes read it and which may write it, in tree order. */
type KeyUse = {
  key: string;
  valueType: string;
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

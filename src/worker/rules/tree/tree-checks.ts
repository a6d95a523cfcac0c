import { type Warning, warning } from '../../../shared/contract/warning.ts';
import type { RuleNode } from '../../../shared/rules/node-file.ts';
import type { Reading } from '../../../shared/rules/reading.ts';
import { findCycle } from '../../../shared/rules/walk.ts';
import type { Rules } from '../rules.ts';
import { countOccurrences, digestOf, edgesIn, type RuleGraph, releasedOrder, type Selection } from './rule-graph.ts';

const MAX_WARNINGS = 50;
const MANY_OCCURRENCES = 100_000;

export type TreeCheck = Awaited<ReturnType<typeof checkTree>>;

type Sources = { rules: Pick<Rules, 'readGraph'>; leafClasses: ReadonlySet<string> | null };

/**
 * The faults of the tree that a client is about to run. `leafClasses`: those the client registered, null when they are
 * unknown. An app whose rules cannot be read has nothing to check.
 */
export async function checkTree(selection: Selection, { rules, leafClasses }: Sources) {
  const graph = await rules.readGraph(selection);
  const nothing = { cycle: null, digest: null, nodes: null, graph: null };
  if (graph.kind !== 'graph') return { ...nothing, warnings: () => warningsAbout(graph, selection) };
  const { nodes, start, rule } = graph;
  // A client searches a node from the rule's root, so a cycle anywhere in the rule counts.
  const root = rule?.confId ?? start;
  if (root === null || start === null) return { ...nothing, warnings: (): Warning[] => [] };
  const cycle = findCycle(root, edgesIn(nodes));
  const inOrder = releasedOrder(nodes, start).map((id) => ({ id, reading: nodes.get(id) }));
  const warnings = foundOnce(() => {
    const ofRule = rule?.rivals.map((rival) => warning('other-file', rival)) ?? [];
    const ofClasses = leafClasses ? classWarnings(inOrder, leafClasses) : [];
    const ofSize = cycle === null ? sizeWarnings(countOccurrences(nodes, start)) : [];
    return [...ofRule, ...inOrder.flatMap(nodeWarnings), ...ofClasses, ...ofSize].slice(0, MAX_WARNINGS);
  });
  const released = inOrder.filter(({ reading }) => reading?.kind === 'found').map(({ id }) => id);
  return {
    /** The ids along a circle, which would end one client's process. */
    cycle,
    /** Found when they are asked for. */
    warnings,
    digest: digestOf(graph),
    /** The ids of the tree, null where not all of them are known. */
    nodes: graph.truncated ? null : new Set(released),
    graph,
  };
}

/** Finds them when they are first asked for, and then lets go of what they were found in: a check is remembered, and its graph may be large. */
function foundOnce(find: () => Warning[]): () => Warning[] {
  let left: (() => Warning[]) | null = find;
  let found: Warning[] = [];
  return () => {
    if (left) found = left();
    left = null;
    return found;
  };
}

function warningsAbout(graph: Exclude<RuleGraph, { kind: 'graph' }>, { app, ruleId, confId }: Selection): Warning[] {
  const about = confId === null ? {} : { nodeId: `${confId}` };
  const [rule, node] = [`${ruleId}`, `${confId}`];
  switch (graph.kind) {
    case 'no-rules':
      return [];
    case 'unknown-rule':
      return [warning('unknown-rule', { app, ruleId: rule })];
    case 'unknown-node':
      return [warning('unknown-node', { app, confId: node, ...about })];
    case 'not-in-rule':
      return [warning('node-not-in-rule', { app, ruleId: rule, confId: node, ...about })];
    case 'unusable':
      return [warning('unusable-file', { ...graph.of, ...graph.fault })];
  }
}

type Placed = { id: bigint; reading: Reading<RuleNode> | undefined };

function nodeWarnings({ id, reading }: Placed): Warning[] {
  const nodeId = `${id}`;
  if (reading?.kind === 'found')
    return reading.value.rivals.map((rival) => warning('other-file', { ...rival, nodeId }));
  if (reading?.kind === 'unusable') return [warning('unusable-file', { confId: nodeId, ...reading.fault, nodeId })];
  return [warning('missing-node', { nodeId })];
}

/** One warning per class, at its first node. */
function classWarnings(inOrder: Placed[], leafClasses: ReadonlySet<string>): Warning[] {
  const missing = new Map<string, bigint>();
  for (const { id, reading } of inOrder) {
    if (reading?.kind !== 'found' || !reading.value.type.leaf) continue;
    const clazz = reading.value.confName;
    if (!leafClasses.has(clazz) && !missing.has(clazz)) missing.set(clazz, id);
  }
  return [...missing].map(([clazz, id]) =>
    clazz === ''
      ? warning('leaf-without-class', { nodeId: `${id}` })
      : warning('missing-leaf-class', { class: clazz, nodeId: `${id}` }),
  );
}

function sizeWarnings(occurrences: number): Warning[] {
  if (occurrences <= MANY_OCCURRENCES) return [];
  return [warning('large-tree', { nodes: occurrences })];
}

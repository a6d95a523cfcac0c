import { digestOfRules } from '../../../shared/rules/digest.ts';
import { isDeleted, type RuleNode } from '../../../shared/rules/node-file.ts';
import { inOrder } from '../../../shared/rules/walk.ts';
import { edgesOf, type NodeReadings, type RuleGraph } from './rule-graph.ts';

/** The nodes of a graph in the order they take part, each once. */
export function releasedOrder(nodes: NodeReadings, start: bigint): bigint[] {
  return inOrder(start, (id) => foundIn(nodes, id));
}

/** The node itself; undefined where there is none that can be read. */
function foundIn(nodes: NodeReadings, id: bigint): RuleNode | undefined {
  const reading = nodes.get(id);
  return reading?.kind === 'found' ? reading.value : undefined;
}

/** The digest of a rule or node with all that it reaches; null where there is nothing to walk. */
export function digestOf(graph: RuleGraph): string | null {
  if (graph.kind !== 'graph' || graph.start === null || graph.truncated) return null;
  const { rule, start, nodes } = graph;
  const nodeOf = (id: bigint) => {
    const node = foundIn(nodes, id);
    if (node !== undefined && !isDeleted(node)) return node;
    return nodes.get(id)?.kind === 'unusable' ? 'unusable' : 'absent';
  };
  const first = foundIn(nodes, start);
  return first !== undefined && isDeleted(first) ? null : digestOfRules({ rule, start, nodeOf });
}

/** How many nodes a client visits at most, shared nodes each time they occur. Only for nodes without a cycle. */
export function countOccurrences(nodes: NodeReadings, start: bigint): number {
  const counts = new Map<bigint, number>();
  const steps = [{ id: start, arrived: false }];
  for (let step = steps.pop(); step; step = steps.pop()) {
    if (counts.has(step.id)) continue;
    const edges = edgesOf(nodes.get(step.id));
    if (!step.arrived) steps.push({ id: step.id, arrived: true }, ...edges.map((id) => ({ id, arrived: false })));
    else
      counts.set(
        step.id,
        edges.map((id) => counts.get(id) ?? 0).reduce((sum, count) => sum + count, 1),
      );
  }
  return counts.get(start) ?? 0;
}

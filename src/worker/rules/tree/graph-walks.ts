import { inOrder } from '../../../shared/contract/rules-digest.ts';
import type { RuleNode } from '../node-file.ts';
import type { NodeReadings } from './rule-graph.ts';
import { edgesOf } from './rule-graph.ts';

/** The nodes of a graph in the order they take part, each once. */
export function releasedOrder(nodes: NodeReadings, start: bigint): bigint[] {
  return inOrder(start, (id) => foundIn(nodes, id));
}

/** The node itself; undefined where there is none that can be read. */
export function foundIn(nodes: NodeReadings, id: bigint): RuleNode | undefined {
  const reading = nodes.get(id);
  return reading?.kind === 'found' ? reading.value : undefined;
}

/** The first circle a client would run into, as the ids along it, or null. Forward conditions count like children. */
export function findCycle(nodes: NodeReadings, start: bigint): bigint[] | null {
  const done = new Set<bigint>();
  const trail = new Set<bigint>();
  const path = [{ id: start, edges: edgesOf(nodes.get(start)).values() }];
  trail.add(start);
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const { value: id } = top.edges.next();
    if (id === undefined) {
      path.pop();
      trail.delete(top.id);
      done.add(top.id);
    } else if (trail.has(id)) return [...trail].slice([...trail].indexOf(id));
    else if (!done.has(id)) {
      trail.add(id);
      path.push({ id, edges: edgesOf(nodes.get(id)).values() });
    }
  }
  return null;
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

import type { Node } from '../engine/node.ts';

/** The nodes that run after a node, in order: first its forward condition, then its children. */
function nextOf({ forward, children }: Node): readonly Node[] {
  return forward === null ? children : [forward, ...children];
}

/** Every node that a run from here can meet, each once. */
export function reachable(start: Node): Set<Node> {
  const seen = new Set([start]);
  for (const node of seen) for (const next of nextOf(node)) seen.add(next);
  return seen;
}

/** The nodes along a circle that a run from here would never leave; null when there is none. Takes trees of any depth. */
export function findCycle(start: Node): readonly Node[] | null {
  const done = new Set<Node>();
  const onPath = new Set([start]);
  const path = [{ node: start, next: nextOf(start).values() }];
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const { value: node, done: ended } = top.next.next();
    if (ended) {
      done.add(top.node);
      onPath.delete(top.node);
      path.pop();
    } else if (onPath.has(node)) {
      const nodes = [...onPath];
      return nodes.slice(nodes.indexOf(node));
    } else if (!done.has(node)) {
      onPath.add(node);
      path.push({ node, next: nextOf(node).values() });
    }
  }
  return null;
}

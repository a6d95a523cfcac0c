type Step = { id: bigint; arrived: boolean };
type Below = { forwardId: bigint | null; sonIds: readonly bigint[] };

/**
 * The nodes in execution order (forward condition, node, children), each once. Iterative, because a chain of thousands of nodes would
 * overflow the stack.
 */
export function inOrder(start: bigint, below: (id: bigint) => Below | undefined): bigint[] {
  const order: bigint[] = [];
  const visited = new Set<bigint>();
  const steps: Step[] = [{ id: start, arrived: false }];
  for (let step = steps.pop(); step; step = steps.pop()) {
    if (step.arrived) order.push(step.id);
    if (step.arrived || visited.has(step.id)) continue;
    visited.add(step.id);
    const { forwardId = null, sonIds = [] } = below(step.id) ?? {};
    for (const id of sonIds.toReversed()) steps.push({ id, arrived: false });
    steps.push({ id: step.id, arrived: true });
    if (forwardId !== null) steps.push({ id: forwardId, arrived: false });
  }
  return order;
}

/** The nodes of a cycle reachable from here, or null. Iterative, for trees of any depth. */
export function findCycle<T>(start: T, nextOf: (at: T) => readonly T[]): T[] | null {
  const done = new Set<T>();
  const trail = new Set([start]);
  const path = [{ at: start, next: nextOf(start).values() }];
  for (let top = path.at(-1); top; top = path.at(-1)) {
    const { value: at, done: ended } = top.next.next();
    if (ended) {
      done.add(top.at);
      trail.delete(top.at);
      path.pop();
    } else if (trail.has(at)) return [...trail].slice([...trail].indexOf(at));
    else if (!done.has(at)) {
      trail.add(at);
      path.push({ at, next: nextOf(at).values() });
    }
  }
  return null;
}

import { stringifyExact } from '../../../shared/contract/json/raw-number.ts';
import type { RuleNode } from '../../../shared/rules/node-file.ts';
import type { NodeDetails } from '../node-details.ts';
import type { NodeReadings } from './rule-graph.ts';

const MAX_OCCURRENCES = 20_000;
const MAX_CHARACTERS = 6 * 1024 * 1024;
/** Each level nests two JSON levels deep, and readers of JSON give up at 200. */
const MAX_LEVELS = 90;

/** One occurrence of a node. `circular`: it stands below itself here, so what is below it is not repeated. */
export type TreeNode = NodeDetails & { circular: boolean; forward: TreeNode | null; children: TreeNode[] };

type Grown = { kind: 'grown'; root: TreeNode; occurrences: ReadonlyMap<bigint, number> } | { kind: 'too-large' };

/** Draws the tree from its start, shared nodes at each of their places. Sharing can make a few files an endless tree. */
export function growTree(start: bigint, details: ReadonlyMap<bigint, NodeDetails>, nodes: NodeReadings): Grown {
  const occurrences = new Map<bigint, number>();
  const sizes = new Map<bigint, number>();
  const above = new Set<bigint>();
  let places = 0;
  let characters = 0;

  function affordable(node: NodeDetails): boolean {
    const size = sizes.get(node.id) ?? stringifyExact(node).length;
    sizes.set(node.id, size);
    characters += size;
    return ++places <= MAX_OCCURRENCES && characters <= MAX_CHARACTERS && above.size < MAX_LEVELS;
  }

  /** One place in the tree, undefined when the tree grows too large. */
  function place(id: bigint): TreeNode | undefined {
    const node = details.get(id);
    const reading = nodes.get(id);
    if (!node || !affordable(node)) return undefined;
    occurrences.set(id, (occurrences.get(id) ?? 0) + 1);
    const circular = above.has(id);
    if (circular || reading?.kind !== 'found') return { ...node, circular, forward: null, children: [] };
    above.add(id);
    const below = placeBelow(reading.value);
    above.delete(id);
    return below && { ...node, circular, ...below };
  }

  function placeBelow({ forwardId, sonIds }: RuleNode): Pick<TreeNode, 'forward' | 'children'> | undefined {
    const forward = forwardId === null ? null : place(forwardId);
    if (forward === undefined) return undefined;
    const children: TreeNode[] = [];
    for (const sonId of sonIds) {
      const child = place(sonId);
      if (!child) return undefined;
      children.push(child);
    }
    return { forward, children };
  }

  const root = place(start);
  return root ? { kind: 'grown', root, occurrences } : { kind: 'too-large' };
}

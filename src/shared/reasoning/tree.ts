import type { TimeWindow, TreeNode } from '../contract/rules-and-clients.ts';

export type { Comparison, NodeKey, Setting, TimeWindow, TreeNode } from '../contract/rules-and-clients.ts';

export const ALWAYS: TimeWindow = { type: 'always', start: null, end: null };

/** Where a node stands. A node may stand in several places: each is an occurrence of its own. */
export type Occurrence = {
  /** Place in tree order (a node, its forward condition, its children): what the page calls it by. */
  index: number;
  node: TreeNode;
  parent: Occurrence | null;
  role: 'root' | 'forward' | 'child';
  depth: number;
  forward: Occurrence | null;
  children: Occurrence[];
  /** How many occurrences there are below it, with itself. */
  size: number;
};

/** All places of a tree, in the order a reader sees them: a node, its forward condition, its children. */
export function occurrencesOf(root: TreeNode): Occurrence[] {
  const all: Occurrence[] = [];
  function place(node: TreeNode, parent: Occurrence | null, role: Occurrence['role']): Occurrence {
    const depth = parent === null ? 0 : parent.depth + 1;
    const occurrence: Occurrence = {
      index: all.length,
      node,
      parent,
      role,
      depth,
      forward: null,
      children: [],
      size: 1,
    };
    all.push(occurrence);
    if (node.forward) occurrence.forward = place(node.forward, occurrence, 'forward');
    for (const child of node.children) occurrence.children.push(place(child, occurrence, 'child'));
    occurrence.size = all.length - occurrence.index;
    return occurrence;
  }
  place(root, null, 'root');
  return all;
}

export const isLeaf = ({ type }: TreeNode) => type.startsWith('Leaf');
export const isParallel = ({ type }: TreeNode) => type.startsWith('P-');

/** The name of a node on the page: its label, else its class, else its type. */
export function nameOf({ label, shortName, type }: TreeNode): string {
  return label ?? shortName ?? type;
}

/** The same node, and those below it, without what they decide by. */
export function bareNode(node: TreeNode): TreeNode {
  return {
    ...node,
    values: '{}',
    settings: [],
    comparison: null,
    timeWindow: ALWAYS,
    keys: [],
    forward: node.forward && bareNode(node.forward),
    children: node.children.map(bareNode),
  };
}

const MOST_OCCURRENCES = 20_000;
/** Each level nests two JSON levels deep, and readers of JSON give up at 200. */
const MOST_LEVELS = 90;

/** A node where it stands. `circular`: it stands below itself here, so what is below it is not repeated. */
export type Grown<Node> = Node & { circular: boolean; forward: Grown<Node> | null; children: Grown<Node>[] };
export type Flat<Id, Node> = { node: Node; forwardId: Id | null; sonIds: readonly Id[] };

/**
 * Draws the tree below a node, shared nodes at each of their places. Undefined when it grows too large, because sharing can make a few nodes an
 * endless tree, or when `at` has no node.
 */
export function growTree<Id, Node>(start: Id, at: (id: Id) => Flat<Id, Node> | undefined): Grown<Node> | undefined {
  let places = 0;
  function place(id: Id, above: readonly Id[]): Grown<Node> | undefined {
    const flat = at(id);
    if (flat === undefined || ++places > MOST_OCCURRENCES || above.length >= MOST_LEVELS) return undefined;
    const circular = above.includes(id);
    const { node, forwardId, sonIds } = circular ? { ...flat, forwardId: null, sonIds: [] } : flat;
    const path = [...above, id];
    const forward = forwardId === null ? null : place(forwardId, path);
    if (forward === undefined) return undefined;
    const children: Grown<Node>[] = [];
    for (const sonId of sonIds) {
      const child = place(sonId, path);
      if (child === undefined) return undefined;
      children.push(child);
    }
    return { ...node, circular, forward, children };
  }
  return place(start, []);
}

/** A rule's tree as the API draws it: ids as decimal text, shared nodes at each of their places. */
export type TreeNode = {
  id: string;
  state: 'released' | 'missing' | 'unusable';
  type: string;
  label: string | null;
  className: string | null;
  shortName: string | null;
  inverse: boolean;
  errorState: string | null;
  timeWindow: TimeWindow;
  /** The settings of a leaf, as JSON text. */
  values: string;
  settings: Setting[];
  comparison: Comparison | null;
  keys: NodeKey[];
  problems: string[];
  circular: boolean;
  forward: TreeNode | null;
  children: TreeNode[];
};

/** One setting of a leaf, its value as JSON text. `configured`: by the rule; else it is the default of the class. `type`: as the class publishes it. */
export type Setting = { field: string; name: string | null; type?: string | null; value: string; configured: boolean };

/**
 * How a condition decides: TRUE when the value of the key is in this relation to the setting. `missing`: what it comes to without a value:
 * this, or what this setting has, or what it comes to with this number, as JSON text.
 */
export type Comparison = {
  key: string;
  is: (typeof comparisons)[number];
  field: string;
  missing?: boolean | { setting: string } | { number: string } | null;
};
export const comparisons = ['>=', '>', '<=', '<', '=', '!=', 'in', 'not-in'] as const;

/** Both ends inclusive, epoch ms. */
export type TimeWindow = { type: 'always' | 'after' | 'before' | 'between'; start: string | null; end: string | null };

export const ALWAYS: TimeWindow = { type: 'always', start: null, end: null };

export type NodeKey = {
  key: string;
  direction: 'read' | 'write' | 'read_write';
  dynamic: boolean;
  nested: boolean;
  valueType: string;
};

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

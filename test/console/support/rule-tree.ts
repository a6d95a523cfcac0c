import { occurrencesOf, type TreeNode } from '../../../src/shared/reasoning/tree.ts';

type Options = Partial<Omit<TreeNode, 'id' | 'type' | 'children'>>;

/** A node of a tree for tests: `node(1, 'And', [leaf(2)])`. */
export function node(id: number, type: string, children: TreeNode[] = [], options: Options = {}): TreeNode {
  return {
    id: String(id),
    type,
    children,
    state: 'released',
    label: null,
    className: null,
    shortName: null,
    inverse: false,
    errorState: null,
    timeWindow: { type: 'always', start: null, end: null },
    settings: [],
    comparison: null,
    values: '{}',
    keys: [],
    problems: [],
    circular: false,
    forward: null,
    ...options,
  };
}

export const leaf = (id: number, options: Options = {}) => node(id, 'LeafFlow', [], options);

/** The occurrences of a tree, and each by its place: `at(12)`, or `at(12, 1)` for the second place of node 12. */
export function placesOf(root: TreeNode) {
  const occurrences = occurrencesOf(root);
  const at = (id: number, which = 0) => {
    const found = occurrences.filter(({ node: { id: other } }) => other === String(id))[which];
    if (!found) throw new Error(`node ${id} has no place ${which}`);
    return found;
  };
  return { occurrences, at };
}

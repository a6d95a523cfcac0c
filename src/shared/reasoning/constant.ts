import { type Decision, type NodeTrace, ownOf } from './trace/node-trace.ts';
import type { Occurrence } from './tree.ts';

/** The kind of a relation: And, Any and so on, whether its children run in parallel or not. */
export const kindOf = (type: string) => type.replace(/^P-/, '');

/** The result that a relation has independently of its children; null for one that its children decide. */
export function constantOf(type: string): Decision | null {
  const kind = kindOf(type);
  if (kind === 'True') return 'TRUE';
  return kind === 'None' ? 'NONE' : null;
}

/**
 * Whether a relation that should always come to one result came to that of its only child: the Java SDK makes no difference
 * between parallel relations that have one child.
 */
export function isPassedOn({ node, forward, children }: Occurrence, nodeTrace: NodeTrace | undefined): boolean {
  const constant = constantOf(node.type);
  const own = nodeTrace ? ownOf(nodeTrace) : null;
  if (constant === null || own === null || nodeTrace?.error !== null || children.length !== 1) return false;
  return own !== constant && !(constant === 'NONE' && own === 'TRUE' && forward !== null);
}

import type { LeftOut, Node } from './node.ts';
import type { TimeWindow } from './time-window.ts';

/** The node with which a run begins. `start` null: the rule has no root, there is nothing to run. */
export type Found =
  | {
      kind: 'found';
      start: Node | null;
      window: TimeWindow | null;
      leftOut: readonly (LeftOut & { under: bigint })[];
      /** All that a run from there can meet. */
      nodes: ReadonlySet<Node>;
    }
  | { kind: 'refused'; reason: string };

/** The part to run: a rule, a node, or (both) the node inside the rule. `scene`: the scene of the call. */
export type Selection = { ruleId: bigint | null; confId: bigint | null; scene?: string | undefined };

/** The rules in which a selection is looked up. */
export type Rules = { find(selection: Selection): Found };

/** A node that is left out, and why, in one sentence. */
export function sentenceOf({ id, role, under, reason }: LeftOut & { under: bigint }): string {
  return `${role === 'forward' ? 'the forward condition' : 'the child'} ${id} of node ${under} is left out: ${reason}`;
}

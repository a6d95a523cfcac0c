import { createHash } from 'node:crypto';
import { type ExactValue, stringifyExact } from './json/raw-number.ts';

/** When a rule or a node takes part, epoch ms; null on a side that is open. */
type Window = { after: bigint | null; before: bigint | null };
type Below = { forwardId: bigint | null; sonIds: readonly bigint[] };

/** The members of a node's file that change what a client does. `window` null: always. */
type NodeSaid = Below & {
  id: bigint;
  name: string | null;
  type: bigint | null;
  confName: string | null;
  values: ExactValue;
  inverse: boolean;
  errorState: bigint | null;
  window: Window | null;
};

/** The same of a rule's file. */
type RuleSaid = { id: bigint; name: string | null; status: bigint | null; window: Window | null };

/** The same text for node files that say the same, whenever and however they were written. */
export function digestOfNode(said: NodeSaid): string {
  const { id, name, type, confName, values, sonIds, forwardId, inverse, errorState, window } = said;
  const members = { id, name, type, confName, values, sonIds, forwardId, inverse, errorState, window: printed(window) };
  return createHash('sha256').update(stringifyExact(members)).digest('base64url');
}

type Reached = {
  /** Null where a node is run outside of a rule. */
  rule: RuleSaid | null;
  start: bigint;
  /** The children of a node; undefined where there is no such node. */
  below: (id: bigint) => Below | undefined;
  /** The digest of a node, or the word for why it has none. */
  digestOf: (id: bigint) => string;
};

/** The digest of a rule and every node that it reaches. Workers and clients make it alike, so that they can tell that they mean the same rules. */
export function digestOfRules({ rule, start, below, digestOf }: Reached): string {
  const about = rule && { id: rule.id, name: rule.name, status: rule.status, window: printed(rule.window) };
  const hash = createHash('sha256').update(stringifyExact({ rule: about, start }));
  for (const id of inOrder(start, below)) hash.update(`${id} ${digestOf(id)}\n`);
  return hash.digest('base64url').slice(0, 22);
}

const printed = (window: Window | null) => window && { after: window.after, before: window.before };

type Step = { id: bigint; arrived: boolean };

/**
 * The nodes in the order they take part: a node's forward condition before it, its children after it, each node once.
 * The walk keeps its own list, because a chain of thousands of nodes would overflow the call stack.
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

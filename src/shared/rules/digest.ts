import { createHash } from 'node:crypto';
import { stringifyExact } from '../contract/json/raw-number.ts';
import type { RuleNode } from './node-file.ts';
import type { Rule } from './rule-file.ts';
import { sidesOf } from './time-window.ts';
import { inOrder } from './walk.ts';

/** Cached per object: a node that an update did not touch is the same object in the next version. */
const known = new WeakMap<RuleNode, string>();

/** The same text for node files that say the same, whenever and however they were written. */
export function digestOfNode(node: RuleNode): string {
  const before = known.get(node);
  if (before !== undefined) return before;
  const { id, name, confName, values, sonIds, forwardId, inverse, errorState } = node;
  const head = { id, name, type: node.type.number, confName: confName || null, values };
  const members = { ...head, sonIds, forwardId, inverse, errorState, window: sidesOf(node.timeWindow) };
  const digest = createHash('sha256').update(stringifyExact(members)).digest('base64url');
  known.set(node, digest);
  return digest;
}

type Reached = {
  /** Null where a node is run outside of a rule. */
  rule: Rule | null;
  start: bigint;
  /** A node, or the word for why there is none. */
  nodeOf: (id: bigint) => RuleNode | 'absent' | 'unusable';
};

/**
 * The digest of a rule and every node it reaches. Workers and clients compute it in the same way, so that both can tell whether they have
 * the same rules.
 */
export function digestOfRules({ rule, start, nodeOf }: Reached): string {
  const about = rule && { id: rule.id, name: rule.name, status: rule.status, window: sidesOf(rule.timeWindow) };
  const hash = createHash('sha256').update(stringifyExact({ rule: about, start }));
  const below = (id: bigint) => {
    const node = nodeOf(id);
    return typeof node === 'string' ? undefined : node;
  };
  for (const id of inOrder(start, below)) {
    const node = nodeOf(id);
    hash.update(`${id} ${typeof node === 'string' ? node : digestOfNode(node)}\n`);
  }
  return hash.digest('base64url').slice(0, 22);
}

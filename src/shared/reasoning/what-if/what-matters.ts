import { constantOf, kindOf } from '../constant.ts';
import type { Decision } from '../mark.ts';
import { isLeaf, isParallel, type Occurrence } from '../tree.ts';

type Decisions = ReadonlyMap<Occurrence, Decision | null>;

/**
 * The leaves of which at least one has to come out otherwise for an occurrence to do so. What AND came to by a FALSE child stays as it is
 * while that child does; so does what ANY and ALL came to by a TRUE one.
 */
export function leavesThatMatter(at: Occurrence, decisions: Decisions): Occurrence[] {
  const decision = decisions.get(at);
  if (decision === undefined) return [];
  const condition = at.forward === null ? [] : leavesThatMatter(at.forward, decisions);
  if (at.forward && decisions.get(at.forward) === 'FALSE') return condition;
  if (isLeaf(at.node)) return [...condition, at];
  const all = () => at.children.flatMap((child) => leavesThatMatter(child, decisions));
  if (decision === null) return [...condition, ...all()];
  const isPassedOn = isParallel(at.node) && at.children.length === 1;
  if (!isPassedOn && constantOf(at.node.type) !== null) return condition;
  const settles = kindOf(at.node.type) === 'And' ? 'FALSE' : 'TRUE';
  const deciding = at.children.find((child) => decisions.get(child) === settles);
  return [...condition, ...(deciding ? leavesThatMatter(deciding, decisions) : all())];
}

/** The leaves of which at least one has to come out otherwise for an occurrence to run that did not. */
export function leavesBefore(at: Occurrence, decisions: Decisions): Occurrence[] {
  const { parent } = at;
  // It was asked, so its own condition kept it from running.
  if (decisions.has(at)) return at.forward === null ? [] : leavesThatMatter(at.forward, decisions);
  if (parent === null) return [];
  if (!decisions.has(parent)) return leavesBefore(parent, decisions);
  const { forward } = parent;
  if (forward && (decisions.get(forward) ?? 'FALSE') === 'FALSE') return leavesThatMatter(forward, decisions);
  const last = parent.children.findLast((child) => decisions.has(child));
  return last ? leavesThatMatter(last, decisions) : [];
}

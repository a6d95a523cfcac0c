import { decisionOf, type Mark } from '../../shared/reasoning/trace/mark.ts';
import { isParallel, type Occurrence } from '../../shared/reasoning/tree.ts';

/** Why an occurrence did not run, as far as the tree and the trace tell. `by`: the occurrence that is the reason. */
export type Skip =
  | { kind: 'stopped'; by: Occurrence }
  | { kind: 'rejected'; by: Occurrence }
  | { kind: 'out-of-time'; by: Occurrence }
  | { kind: 'error'; by: Occurrence | null }
  | { kind: 'not-run'; by: Occurrence }
  | { kind: 'not-listed'; by: Occurrence }
  | { kind: 'missing' }
  | { kind: 'unusable' }
  | { kind: 'circular' }
  | { kind: 'left-out' };

type Marks = ReadonlyMap<Occurrence, Mark>;

/** The reason an unmarked occurrence has no mark, or null when nothing of the tree ran at all. */
export function skipOf(occurrence: Occurrence, marks: Marks): Skip | null {
  const { parent, node, role } = occurrence;
  if (parent === null) return null;
  if (node.state === 'missing') return { kind: 'missing' };
  if (node.state === 'unusable') return { kind: 'unusable' };
  if (node.circular) return { kind: 'circular' };
  const above = marks.get(parent);
  if (!above) return skipOf(parent, marks) === null ? null : { kind: 'not-run', by: topmostSkipped(parent, marks) };
  if (above.outcome === 'OUT_OF_TIME') return { kind: 'out-of-time', by: parent };
  if (role === 'forward') return { kind: 'left-out' };
  if (above.outcome === 'REJECTED') return { kind: 'rejected', by: parent.forward ?? parent };
  return amongSiblings(occurrence, parent, marks) ?? { kind: 'left-out' };
}

function amongSiblings(occurrence: Occurrence, parent: Occurrence, marks: Marks): Skip | null {
  const decisive = parent.node.type === 'And' ? 'FALSE' : parent.node.type === 'Any' ? 'TRUE' : null;
  for (const sibling of parent.children) {
    if (sibling === occurrence) break;
    const mark = marks.get(sibling);
    if (!mark) continue;
    if (mark.outcome === 'ERROR' || mark.outcome === 'UNFINISHED') return { kind: 'error', by: sibling };
    if (decisive !== null && decisionOf(mark) === decisive) return { kind: 'stopped', by: sibling };
  }
  if (isParallel(parent.node)) {
    const anyListed = parent.children.some((child) => marks.has(child));
    if (!anyListed) return { kind: 'not-listed', by: parent };
  }
  const mark = marks.get(parent);
  return mark?.outcome === 'ERROR' || mark?.outcome === 'UNFINISHED' ? { kind: 'error', by: null } : null;
}

/** The highest occurrence above that has no mark either: the one whose reason counts. */
function topmostSkipped(occurrence: Occurrence, marks: Marks): Occurrence {
  let top = occurrence;
  while (top.parent && !marks.has(top.parent)) top = top.parent;
  return top;
}

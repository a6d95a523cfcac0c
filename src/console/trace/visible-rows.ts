import { decisionOf, type NodeTrace } from '../../shared/reasoning/trace/node-trace.ts';
import { isParallel, nameOf, type Occurrence } from '../../shared/reasoning/tree.ts';

type Filter = {
  collapsed: ReadonlySet<number>;
  executedOnly: boolean;
  /** Only these and what leads to them, when it is not null. */
  only: ReadonlySet<Occurrence> | null;
  /** The search text, for names, classes, ids and keys. */
  search: string;
  nodeTraces: ReadonlyMap<Occurrence, NodeTrace>;
};

export type VisibleRow = {
  occurrence: Occurrence;
  /** Undefined for a row with nothing below it. */
  open: boolean | undefined;
  /** Its place among its siblings that are seen, counted from 1. */
  position: number;
  siblings: number;
  found: boolean;
};

/** The rows to draw: not below a closed row, and when filtered only what matches and what leads there. */
export function visibleRows(occurrences: readonly Occurrence[], filter: Filter): VisibleRow[] {
  const [root] = occurrences;
  if (!root) return [];
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  const matched = new Set(words.length === 0 ? [] : occurrences.filter((occurrence) => matches(occurrence, words)));
  const kept = keep(occurrences, { filter, matched, searching: words.length > 0 });
  const rows: VisibleRow[] = [];

  function add(occurrence: Occurrence, position: number, siblings: number): void {
    const below = belowOf(occurrence).filter((child) => kept.has(child));
    // A search, and the deciding path, open what leads to their nodes.
    const open =
      below.length === 0
        ? undefined
        : words.length > 0 || filter.only !== null || !filter.collapsed.has(occurrence.index);
    rows.push({ occurrence, open, position, siblings, found: matched.has(occurrence) });
    if (open) for (const [index, child] of below.entries()) add(child, index + 1, below.length);
  }

  if (kept.has(root)) add(root, 1, 1);
  return rows;
}

function belowOf({ forward, children }: Occurrence): Occurrence[] {
  return forward ? [forward, ...children] : children;
}

type Keep = { filter: Filter; matched: ReadonlySet<Occurrence>; searching: boolean };

function keep(occurrences: readonly Occurrence[], { filter, matched, searching }: Keep): Set<Occurrence> {
  const kept = new Set<Occurrence>();
  for (const occurrence of occurrences) {
    if (searching && !matched.has(occurrence)) continue;
    if (filter.executedOnly && !filter.nodeTraces.has(occurrence)) continue;
    if (filter.only !== null && !filter.only.has(occurrence)) continue;
    for (let above: Occurrence | null = occurrence; above && !kept.has(above); above = above.parent) kept.add(above);
  }
  return kept;
}

function matches({ node }: Occurrence, words: readonly string[]): boolean {
  const text = [nameOf(node), node.className, node.type, `#${node.id}`, ...node.keys.map(({ key }) => key)]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

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

type NodeTraces = ReadonlyMap<Occurrence, NodeTrace>;

/** The reason an occurrence has no trace, or null when nothing of the tree ran at all. */
export function skipOf(occurrence: Occurrence, nodeTraces: NodeTraces): Skip | null {
  const { parent, node, role } = occurrence;
  if (parent === null) return null;
  if (node.state === 'missing') return { kind: 'missing' };
  if (node.state === 'unusable') return { kind: 'unusable' };
  if (node.circular) return { kind: 'circular' };
  const above = nodeTraces.get(parent);
  if (!above)
    return skipOf(parent, nodeTraces) === null ? null : { kind: 'not-run', by: topmostSkipped(parent, nodeTraces) };
  if (above.outcome === 'OUT_OF_TIME') return { kind: 'out-of-time', by: parent };
  if (role === 'forward') return { kind: 'left-out' };
  if (above.outcome === 'REJECTED') return { kind: 'rejected', by: parent.forward ?? parent };
  return amongSiblings(occurrence, parent, nodeTraces) ?? { kind: 'left-out' };
}

function amongSiblings(occurrence: Occurrence, parent: Occurrence, nodeTraces: NodeTraces): Skip | null {
  const decisive = parent.node.type === 'And' ? 'FALSE' : parent.node.type === 'Any' ? 'TRUE' : null;
  for (const sibling of parent.children) {
    if (sibling === occurrence) break;
    const nodeTrace = nodeTraces.get(sibling);
    if (!nodeTrace) continue;
    if (nodeTrace.outcome === 'ERROR' || nodeTrace.outcome === 'UNFINISHED') return { kind: 'error', by: sibling };
    if (decisive !== null && decisionOf(nodeTrace) === decisive) return { kind: 'stopped', by: sibling };
  }
  if (isParallel(parent.node)) {
    const anyListed = parent.children.some((child) => nodeTraces.has(child));
    if (!anyListed) return { kind: 'not-listed', by: parent };
  }
  const nodeTrace = nodeTraces.get(parent);
  return nodeTrace?.outcome === 'ERROR' || nodeTrace?.outcome === 'UNFINISHED' ? { kind: 'error', by: null } : null;
}

/** The highest occurrence above that has no trace either: the one whose reason counts. */
function topmostSkipped(occurrence: Occurrence, nodeTraces: NodeTraces): Occurrence {
  let top = occurrence;
  while (top.parent && !nodeTraces.has(top.parent)) top = top.parent;
  return top;
}

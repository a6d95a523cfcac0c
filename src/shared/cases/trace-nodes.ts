import { type TraceEntry, traceEntries } from '../contract/trace-entries.ts';

/** The state of a node in one of its occurrences. */
export type NodeState = 'TRUE' | 'FALSE' | 'NONE' | 'ERROR' | 'OUT_OF_TIME' | 'REJECTED' | 'UNKNOWN';

const STATES: ReadonlyMap<string, NodeState> = new Map([
  ['T', 'TRUE'],
  ['F', 'FALSE'],
  ['N', 'NONE'],
  ['S', 'ERROR'],
]);
const INVERTED: ReadonlyMap<NodeState, NodeState> = new Map([
  ['TRUE', 'FALSE'],
  ['FALSE', 'TRUE'],
]);

/** The states of the nodes of a run, every occurrence of each, by id; null when the trace cannot be read to its end. */
export function nodesOfTrace(trace: string): Map<string, NodeState[]> | null {
  const { entries, rest } = traceEntries(trace);
  const nodes = new Map<string, NodeState[]>();
  for (const { id, end } of entries) nodes.set(id, [...(nodes.get(id) ?? []), stateOf(end)]);
  return rest === '' && entries.length > 0 ? nodes : null;
}

function stateOf(end: TraceEntry['end']): NodeState {
  if (end.kind === 'out-of-time') return 'OUT_OF_TIME';
  if (end.kind === 'rejected') return 'REJECTED';
  const own = STATES.get(end.letter) ?? 'UNKNOWN';
  return end.inverse ? (INVERTED.get(own) ?? own) : own;
}

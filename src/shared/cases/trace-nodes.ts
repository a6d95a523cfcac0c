import { type NodeState, traceEntries } from '../contract/trace-entries.ts';

/** The states of the nodes of a run, every occurrence of each, by id; null when the trace cannot be read to its end. */
export function nodesOfTrace(trace: string): Map<string, NodeState[]> | null {
  const { entries, rest } = traceEntries(trace);
  const nodes = new Map<string, NodeState[]>();
  for (const { id, state } of entries) nodes.set(id, [...(nodes.get(id) ?? []), state]);
  return rest === '' && entries.length > 0 ? nodes : null;
}

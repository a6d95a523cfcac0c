/** What a node came to in one of its occurrences. */
export type NodeState = 'TRUE' | 'FALSE' | 'NONE' | 'ERROR' | 'OUT_OF_TIME' | 'REJECTED' | 'UNKNOWN';

// A node's name may hold anything, so an entry only ends where another begins, or the text.
const ENTRY = /\[(\d+):(.*?):(?:(O)(?:-I)?(?::0)?|(R-F)|([TFNS?])(-I)?:-?\d+)\](?=\[\d+:|$)/gsy;
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

/** What the nodes of a run came to, every occurrence of each, by id; null when the trace cannot be read to its end. */
export function nodesOfTrace(trace: string): Map<string, NodeState[]> | null {
  const nodes = new Map<string, NodeState[]>();
  let end = 0;
  for (const match of trace.matchAll(ENTRY)) {
    const [whole, id = '', , outOfTime, rejected, letter = '', inverse] = match;
    const own = outOfTime ? 'OUT_OF_TIME' : rejected ? 'REJECTED' : (STATES.get(letter) ?? 'UNKNOWN');
    const state = inverse === undefined ? own : (INVERTED.get(own) ?? own);
    nodes.set(id, [...(nodes.get(id) ?? []), state]);
    end = match.index + whole.length;
  }
  return end === trace.length && end > 0 ? nodes : null;
}

import { nameOf, type Occurrence } from '../tree.ts';
import { whyOf } from '../why.ts';
import { type NodeTrace, type Outcome, plainTrace } from './node-trace.ts';

/** A node as lists name it. */
export type NamedNode = { id: string; name: string };

const OUTCOMES: readonly Outcome[] = ['TRUE', 'FALSE', 'NONE', 'ERROR', 'OUT_OF_TIME', 'REJECTED'];

/**
 * The node that decided: where the chain of reasons of a run ends. `nodes`: the result of each node, by its id, one state for each
 * time that it ran. Null where they do not tell which occurrence of a node ran.
 */
export function decidedBy(
  occurrences: readonly Occurrence[],
  nodes: Readonly<Record<string, readonly string[]>>,
): NamedNode | null {
  const nodeTraces = new Map<Occurrence, NodeTrace>();
  for (const [id, of] of Map.groupBy(occurrences, ({ node }) => node.id)) {
    const states = nodes[id] ?? [];
    if (states.length === 0) continue;
    if (states.length !== of.length) return null;
    for (const [index, occurrence] of of.entries()) nodeTraces.set(occurrence, nodeTraceOf(occurrence, states[index]));
  }
  const [root] = occurrences;
  const end = root && whyOf(root, nodeTraces).at(-1);
  return end === undefined ? null : { id: end.at.node.id, name: nameOf(end.at.node) };
}

function nodeTraceOf({ node }: Occurrence, state: string | undefined): NodeTrace {
  const outcome = OUTCOMES.find((known) => known === state) ?? 'UNKNOWN';
  const inverted = node.inverse && (outcome === 'TRUE' || outcome === 'FALSE');
  return { ...plainTrace, outcome, inverted, ms: null };
}

import type { Node } from './node.ts';
import { createTally, type Relation, type Tally } from './relations.ts';
import type { State } from './state.ts';

/** A state at once, or later when a leaf waits for something. Nothing waits that does not have to. */
export type Evaluated = State | Promise<State>;

/** The children of one relation, and how to run one of them. */
export type Children = { nodes: readonly Node[]; relation: Relation; evaluate: (child: Node) => Evaluated };

/** Runs children one after the other, to the first that settles the matter. Waits only for a child that has to wait. */
export function runSerial(children: Children): Evaluated {
  return runFrom(0, createTally(children.relation), children);
}

function runFrom(first: number, tally: Tally, children: Children): Evaluated {
  const { nodes, evaluate } = children;
  for (let index = first; index < nodes.length; index++) {
    const node = nodes[index];
    if (node === undefined) break;
    const state = evaluate(node);
    if (typeof state !== 'string') return goOn(state, { next: index + 1, tally, children });
    if (tally.add(state)) break;
  }
  return tally.verdict();
}

type Rest = { next: number; tally: Tally; children: Children };

async function goOn(pending: Promise<State>, { next, tally, children }: Rest): Promise<State> {
  return tally.add(await pending) ? tally.verdict() : runFrom(next, tally, children);
}

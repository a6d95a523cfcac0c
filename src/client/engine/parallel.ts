import type { Node } from './node.ts';
import { createTally, type Tally } from './relations.ts';
import { Stopped } from './run.ts';
import type { Children, Evaluated } from './serial.ts';
import type { State } from './state.ts';

type Failure = { error: unknown };
type Started = State | Promise<State> | Failure;

/**
 * Starts every child before it waits for any. AND and ANY end with the first child that settles the matter; the others
 * run on and are heard of in the trace only. An only child's state is taken as it is, as in the Java SDK.
 */
export function runParallel({ nodes, relation, evaluate }: Children): Evaluated {
  const [only] = nodes;
  if (only && nodes.length === 1) return evaluate(only);
  const started = nodes.map((node) => start(node, evaluate));
  const tally = createTally(relation);
  if (!started.some((child) => child instanceof Promise)) return takeAll(started, tally);
  return relation.stopsAt === null ? takeInOrder(started, tally) : takeAsTheyCome(started, tally);
}

function start(node: Node, evaluate: Children['evaluate']): Started {
  try {
    const state = evaluate(node);
    // A child nobody waits for any more must not end the process with its error.
    if (state instanceof Promise) state.catch(() => {});
    return state;
  } catch (error) {
    if (error instanceof Stopped) throw error;
    return { error };
  }
}

function takeAll(started: Started[], tally: Tally): State {
  for (const child of started) {
    if (typeof child === 'string' && tally.add(child)) break;
    if (isFailure(child)) throw child.error;
  }
  return tally.verdict();
}

async function takeInOrder(started: Started[], tally: Tally): Promise<State> {
  for (const child of started) {
    if (isFailure(child)) throw child.error;
    if (tally.add(await child)) break;
  }
  return tally.verdict();
}

function takeAsTheyCome(started: Started[], tally: Tally): Promise<State> {
  return new Promise((resolve, reject) => {
    let open = started.length;
    const take = (state: State) => {
      open--;
      if (tally.add(state) || open === 0) resolve(tally.verdict());
    };
    for (const child of started) {
      if (typeof child === 'string') take(child);
      else if (isFailure(child)) reject(child.error);
      else child.then(take, reject);
    }
  });
}

function isFailure(child: Started): child is Failure {
  return typeof child === 'object' && !(child instanceof Promise);
}

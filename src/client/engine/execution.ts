import type { Stubs } from './dry-run.ts';
import { evaluate } from './evaluate.ts';
import type { Node } from './node.ts';
import { createRun, type ExecutionOptions, type ExecutionRequest, type Run } from './run.ts';
import { type Rules, sentenceOf } from './selection.ts';
import type { State } from './state.ts';
import { isOutside } from './time-window.ts';

/** How a run ended. `outcome` null: nothing ran, because of the rule's time window or because it has no root. */
export type Ending = { kind: 'done'; outcome: State | null } | { kind: 'failed'; error: unknown };

/** A run that has begun. `leftOut`: sentences about nodes of its tree that this client cannot run. */
export type Execution = { run: Run; ended: Ending | Promise<Ending>; leftOut: readonly string[] };

/** Runs a rule or a node. Never throws: whatever goes wrong is how the run ended. */
export function execute(rules: Rules, request: ExecutionRequest, options: ExecutionOptions): Execution {
  const run = createRun(request, options);
  const found = rules.find(request);
  if (found.kind === 'refused') return { run, ended: failed(new Error(found.reason)), leftOut: [] };
  const { start, window } = found;
  const unknown = stubOfNoNode(request.stubs, found.nodes);
  if (unknown !== undefined) return { run, ended: failed(unknown), leftOut: [] };
  const leftOut = found.leftOut.map(sentenceOf);
  const nothingRuns = start === null || (window !== null && isOutside(window, run.ts));
  return { run, ended: nothingRuns ? done(null) : begin(() => evaluate(start, run, 'root', null)), leftOut };
}

/** A run must not look as if a node were replaced that is not there, or that this client leaves out. */
function stubOfNoNode(stubs: Stubs | undefined, nodes: ReadonlySet<Node>): Error | undefined {
  if (stubs === undefined || stubs.size === 0) return undefined;
  const ids = new Set([...nodes].map(({ id }) => id));
  const unknown = [...stubs.keys()].find((id) => !ids.has(id));
  return unknown === undefined ? undefined : new Error(`stub.${unknown} is no node of the tree that this client runs`);
}

function begin(evaluateRoot: () => State | Promise<State>): Ending | Promise<Ending> {
  try {
    const outcome = evaluateRoot();
    return typeof outcome === 'string' ? done(outcome) : outcome.then(done, failed);
  } catch (error) {
    return failed(error);
  }
}

const done = (outcome: State | null): Ending => ({ kind: 'done', outcome });
const failed = (error: unknown): Ending => ({ kind: 'failed', error });

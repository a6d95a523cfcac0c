import type { Stub } from './dry-run.ts';
import type { Node, Role } from './node.ts';
import { runParallel } from './parallel.ts';
import { executedTail, type Run, Stopped } from './run.ts';
import type { Evaluated } from './serial.ts';
import { runSerial } from './serial.ts';
import type { ErrorState, State } from './state.ts';
import { inverted } from './state.ts';
import type { Step } from './steps.ts';
import { isOutside } from './time-window.ts';

/** A node's own result; `REJECTED`: its forward condition was FALSE, so it did not run. */
type Own = State | 'REJECTED';

/**
 * Runs a node in its place: not outside its time window, not when its forward condition is FALSE. What it comes to is
 * inverted if so configured, and an error becomes the state that the node takes instead or ends the run. Notes both traces.
 */
export function evaluate(node: Node, run: Run, role: Role, parent: Step | null): Evaluated {
  // A tree may be deeper than the stack: below so many levels the rest runs from a stack that is empty again.
  if (run.depth >= MAX_CALLS_DEEP) return Promise.resolve().then(() => evaluate(node, run, role, parent));
  run.depth++;
  try {
    return evaluateHere(node, run, role, parent);
  } finally {
    run.depth--;
  }
}

const MAX_CALLS_DEEP = 400;

function evaluateHere(node: Node, run: Run, role: Role, parent: Step | null): Evaluated {
  const began = run.begin();
  const step = run.steps?.begin(node, role, parent, began) ?? null;
  const stub = run.dryRun?.stubOf(node);
  if (stub !== undefined) return stubbed({ node, run, step, began }, stub);
  if (node.window !== null && isOutside(node.window, run.ts)) {
    if (step) run.steps?.end(step, began, 'OUT_OF_TIME');
    run.note(node, 'O');
    return 'NONE';
  }
  const running: Running = { node, run, step, began };
  let own: Own | Promise<Own>;
  try {
    if (step && node.leftOut.length > 0) run.steps?.leftOut(node, step, began);
    own = node.forward === null ? runBody(running) : runBehind(node.forward, running);
  } catch (error) {
    return failed(running, error);
  }
  if (typeof own === 'string') return ended(running, own);
  return own.then(
    (state) => {
      run.tick();
      return ended(running, state);
    },
    (error) => failed(running, error),
  );
}

type Running = { node: Node; run: Run; step: Step | null; began: number };

/** In the place of the node, its condition and its time window: the value of its stub, in which inversion is done. */
function stubbed({ node, run, step, began }: Running, { outcome, set }: Stub): State {
  const data = run.dataFor(step);
  for (const [key, value] of Object.entries(set)) data.put(key, value);
  if (step) {
    step.instead = 'stubbed';
    run.steps?.end(step, began, outcome);
  }
  run.note(node, executedTail(outcome, false, 0));
  return outcome;
}

function runBody({ node, run, step }: Running): Evaluated {
  const { body } = node;
  if (body.kind === 'leaf') {
    if (run.dryRun?.mayCall(node.id, body.effects) === false) {
      if (step) step.instead = 'assumed';
      return 'TRUE';
    }
    run.enter(node);
    const { within } = run;
    const state =
      within === null || body.onlyComputes
        ? body.run(run.dataFor(step))
        : within(node, () => body.run(run.dataFor(step)), step);
    run.tick();
    return state;
  }
  const children = {
    nodes: node.children,
    relation: body.relation,
    evaluate: (child: Node) => evaluate(child, run, 'child', step),
  };
  return body.relation.parallel ? runParallel(children) : runSerial(children);
}

function runBehind(forward: Node, running: Running): Own | Promise<Own> {
  const condition = evaluate(forward, running.run, 'forward', running.step);
  return typeof condition === 'string'
    ? runAfter(condition, running)
    : condition.then((state) => runAfter(state, running));
}

function runAfter(condition: State, running: Running): Own | Promise<Own> {
  if (condition === 'FALSE') return 'REJECTED';
  const own = runBody(running);
  if (condition === 'NONE') return own;
  // A condition that holds counts for something: a node without an opinion of its own takes it.
  const withCondition = (state: State) => (state === 'NONE' ? 'TRUE' : state);
  return typeof own === 'string' ? withCondition(own) : own.then(withCondition);
}

function ended({ node, run, step, began }: Running, own: Own): State {
  const now = run.clock();
  if (own === 'REJECTED') {
    if (step) run.steps?.end(step, now, 'REJECTED');
    run.note(node, 'R-F');
    return 'FALSE';
  }
  const outcome = node.inverse ? inverted(own) : own;
  if (step) {
    step.inverted = outcome !== own;
    run.steps?.end(step, now, outcome);
  }
  run.note(node, executedTail(own, node.inverse, now - began));
  return outcome;
}

function failed({ node, run, step, began }: Running, error: unknown): State {
  if (error instanceof Stopped) throw error;
  const { state, cause } = stateInstead({ node, run, step }, error);
  const now = run.tick();
  if (step) step.error = messageOf(cause);
  run.note(node, executedTail(state, node.inverse, now - began));
  if (state === 'SHUT_DOWN') {
    if (step) run.steps?.end(step, now, 'ERROR');
    throw cause;
  }
  const outcome = node.inverse ? inverted(state) : state;
  if (step) {
    step.inverted = outcome !== state;
    run.steps?.end(step, now, outcome);
  }
  return outcome;
}

/** The error handler (the node's, else the run's) chooses a state; the `errorState` of the node's file takes precedence over them. */
function stateInstead({ node, run, step }: Omit<Running, 'began'>, error: unknown) {
  let state: ErrorState = 'SHUT_DOWN';
  let cause = error;
  const handle = (node.body.kind === 'leaf' ? node.body.handleError : null) ?? run.handleError;
  try {
    const ask = () => handle?.(run.dataFor(step), error) ?? 'SHUT_DOWN';
    state = run.within === null ? ask() : run.within(node, ask, step);
  } catch (thrown) {
    cause = thrown;
  }
  return { state: node.errorState ?? state, cause };
}

/** The message of an error; any other thrown value is shown as text. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return typeof error === 'string' && error !== ''
    ? error
    : `something that is not an Error was thrown: ${typeof error}`;
}

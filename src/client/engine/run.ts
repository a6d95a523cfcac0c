import { Data, type RunContext } from './data/data.ts';
import type { Store } from './data/keys.ts';
import type { DryRun } from './dry-run.ts';
import type { HandleError, Node } from './node.ts';
import { type ErrorState, letterOf } from './state.ts';
import { createSteps, logInto, type Step, type Steps, type StepWatcher } from './steps.ts';

/** Ends a run from outside. Nothing in a rule absorbs it. */
export class Stopped extends Error {}

/** One run of a rule: its data, its trace so far, and whether it may go on. */
export type Run = {
  readonly store: Store;
  readonly ts: bigint;
  readonly steps: Steps | null;
  readonly handleError: HandleError | null;
  /** Null for a run with all its effects. */
  readonly dryRun: DryRun | null;
  /** Runs a leaf's code so that its stray errors are attributed to it. */
  readonly within: Within | null;
  /** How many nodes lie on the stack. */
  depth: number;
  /** The run is over: what is still put is reported, because nobody will read it. */
  end(): void;
  /** The time a node begins at: when the last code that takes time ended. Throws `Stopped` once the run was stopped or its time is up. */
  begin(): number;
  /** The time now, in ms; called wherever code that is not the engine's has run. */
  tick(): number;
  /** The last time that `tick` read. Between two leaves too little time passes to read the clock again. */
  clock(): number;
  stop(reason: string): void;
  dataFor(step: Step | null): Data;
  process(): string;
  /** Tells whoever watches which leaf is about to run. */
  enter(node: Node): void;
  /** Notes a node's end in the process text. */
  note(node: Node, tail: string): void;
};

/** Beyond this a process text is cut: a tree of millions of nodes must not become an answer nobody can read. */
const MAX_PROCESS_LENGTH = 1024 * 1024;

type Options = {
  store: Store;
  ts: bigint;
  scene: string | undefined;
  withSteps: boolean;
  deadline: number;
  handleError: HandleError | null;
  dryRun: DryRun | null;
  watcher: RunWatcher | null;
  within: Within | null;
  stepWatcher: StepWatcher | null;
};

export type Within = <T>(node: Node, work: () => T, step: Step | null) => T;

/** Follows the progress of a run. */
export type RunWatcher = { note(process: string): void; enter(nodeId: bigint): void };

export function createRun(options: Options): Run {
  const { store, ts, scene, withSteps, deadline, handleError, dryRun, watcher, within, stepWatcher } = options;
  const steps = withSteps ? createSteps(stepWatcher) : null;
  let process = '';
  let now = performance.now();
  let begun = 0;
  let stopped: Stopped | undefined;
  let abort: AbortController | undefined;

  function stop(reason: string): void {
    stopped ??= new Stopped(reason);
    abort?.abort(stopped);
  }

  const context: RunContext = {
    store,
    ts: Number(ts),
    scene,
    signal() {
      abort ??= new AbortController();
      if (stopped) abort.abort(stopped);
      return abort.signal;
    },
  };
  const unlogged = new Data(context, null);

  return {
    store,
    ts,
    steps,
    handleError,
    dryRun,
    within,
    depth: 0,
    end() {
      store.isOver = true;
    },
    begin() {
      // A tree without a single leaf takes time too.
      if ((++begun & 63) === 0) now = performance.now();
      if (now > deadline) stop('its time is up');
      if (stopped) throw stopped;
      return now;
    },
    tick() {
      now = performance.now();
      return now;
    },
    clock: () => now,
    stop,
    dataFor: (step) => (step ? new Data(context, logInto(step)) : unlogged),
    process: () => process,
    enter: (node) => watcher?.enter(node.id),
    note(node, tail) {
      if (process.length > MAX_PROCESS_LENGTH) return;
      process += `${node.head}${tail}]`;
      watcher?.note(process);
    },
  };
}

/** How an executed node ends its entry: state before inversion, `-I` when inverted, whole ms. */
export function executedTail(state: ErrorState, inverse: boolean, ms: number): string {
  return `${letterOf(state)}${inverse ? '-I:' : ':'}${Math.floor(ms)}`;
}

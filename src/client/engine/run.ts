import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { Data, type RunContext } from './data/data.ts';
import { createStore } from './data/keys.ts';
import { createDryRun, type Stubs } from './dry-run.ts';
import type { HandleError, Node } from './node.ts';
import type { Selection } from './selection.ts';
import { type ErrorState, letterOf } from './state.ts';
import { createSteps, logInto, type Step, type StepWatcher } from './steps.ts';

/** Ends a run from outside. Nothing in a rule absorbs it. */
export class Stopped extends Error {}

/** One run of a rule: its data, its trace so far, and whether it may go on. */
export type Run = ReturnType<typeof createRun>;

/** Beyond this a process text is cut: a tree of millions of nodes must not become an answer nobody can read. */
const MAX_PROCESS_LENGTH = 1024 * 1024;

export type ExecutionRequest = Selection & {
  /** Epoch ms to run as of; null = now. */
  ts: bigint | null;
  /** The data; the run works on this very object. */
  data: ExactObject;
  /** Instead of a run with effects: one without them, with these stubs. */
  stubs?: Stubs | undefined;
  /** The trace that asks for it (W3C Trace Context), if it is known. */
  traceparent?: string | undefined;
};

export type ExecutionOptions = {
  withSteps: boolean;
  /** How long it may take, in ms. */
  timeoutMs: number;
  handleError?: HandleError | undefined;
  watcher?: RunWatcher | undefined;
  within?: Within | undefined;
  stepWatcher?: StepWatcher | null;
  onLatePut?: ((key: string) => void) | undefined;
};

type Within = <T>(node: Node, work: () => T, step: Step | null) => T;

/** Follows the progress of a run. */
export type RunWatcher = { note(process: string): void; enter(nodeId: bigint): void };

export function createRun(request: ExecutionRequest, options: ExecutionOptions) {
  const { data, scene, stubs, ts } = request;
  const { withSteps, timeoutMs, handleError = null, watcher, within = null, stepWatcher, onLatePut } = options;
  const store = createStore(data, onLatePut);
  const asOf = ts ?? BigInt(Date.now());
  // Their time begins before that of the first node.
  const steps = withSteps ? createSteps(stepWatcher) : null;
  const { signal, ...clock } = createClock(timeoutMs);
  const context: RunContext = { store, ts: Number(asOf), scene, signal };
  const unlogged = new Data(context, null);
  let process = '';

  return {
    ...clock,
    store,
    ts: asOf,
    steps,
    handleError,
    /** Null for a run with all its effects. */
    dryRun: stubs === undefined ? null : createDryRun(stubs),
    /** Runs a leaf's code so that its stray errors are attributed to it. */
    within,
    /** How many nodes lie on the stack. */
    depth: 0,
    /** The run is over: what is still put is reported, because nobody will read it. */
    end(): void {
      store.isOver = true;
    },
    dataFor: (step: Step | null): Data => (step ? new Data(context, logInto(step)) : unlogged),
    process: (): string => process,
    /** Tells whoever watches which leaf is about to run. */
    enter: (node: Node): void => watcher?.enter(node.id),
    /** Notes a node's end in the process text. */
    note(node: Node, tail: string): void {
      if (process.length > MAX_PROCESS_LENGTH) return;
      process += `${node.head}${tail}]`;
      watcher?.note(process);
    },
  };
}

/** The time of a run, and whether it may go on. */
function createClock(timeoutMs: number) {
  let now = performance.now();
  const deadline = now + timeoutMs;
  let begun = 0;
  let stopped: Stopped | undefined;
  let abort: AbortController | undefined;

  function stop(reason: string): void {
    stopped ??= new Stopped(reason);
    abort?.abort(stopped);
  }

  return {
    stop,
    signal(): AbortSignal {
      abort ??= new AbortController();
      if (stopped) abort.abort(stopped);
      return abort.signal;
    },
    /** The time a node begins at: when the last code that takes time ended. Throws `Stopped` once the run was stopped or its time is up. */
    begin(): number {
      // A tree without a single leaf takes time too.
      if ((++begun & 63) === 0) now = performance.now();
      if (now > deadline) stop('its time is up');
      if (stopped) throw stopped;
      return now;
    },
    /** The time now, in ms; called wherever code that is not the engine's has run. */
    tick(): number {
      now = performance.now();
      return now;
    },
    /** The last time that `tick` read. Between two leaves too little time passes to read the clock again. */
    clock: (): number => now,
  };
}

/** How an executed node ends its entry: state before inversion, `-I` when inverted, whole ms. */
export function executedTail(state: ErrorState, inverse: boolean, ms: number): string {
  return `${letterOf(state)}${inverse ? '-I:' : ':'}${Math.floor(ms)}`;
}

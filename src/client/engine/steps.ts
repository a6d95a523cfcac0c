import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import type { AccessedKey, AccessLog } from './data/keys.ts';
import type { Node, Role } from './node.ts';
import type { State } from './state.ts';

/** A node's result as its parent sees it: inversion, forward condition and absorbed errors included. */
export type StepOutcome = State | 'REJECTED' | 'OUT_OF_TIME' | 'ERROR' | 'LEFT_OUT' | 'UNFINISHED';

export type Read = AccessedKey & { value: ExactValue | undefined };
export type Write = AccessedKey & { before: ExactValue | undefined; after: ExactValue | undefined };

/** One occurrence of a node in a run. Times are ms since the run began. */
export type Step = {
  readonly index: number;
  readonly nodeId: bigint;
  readonly name: string;
  readonly role: Role;
  readonly parent: Step | null;
  readonly start: number;
  ms: number;
  outcome: StepOutcome;
  inverted: boolean;
  error: string | null;
  /** In a dry run: the replacement of the node's own code. */
  instead: 'stubbed' | 'assumed' | null;
  /** The first value read of each key, before the node wrote it. */
  reads: ReadonlyMap<string, Read>;
  /** The value of each key before its first write, and after its last. */
  writes: ReadonlyMap<string, Write>;
};

const none: ReadonlyMap<string, never> = new Map<string, never>();

/** Called when a node begins and when it has ended. */
export type StepWatcher = { began(step: Step): void; ended(step: Step): void };

/** Everybody who reads a trace draws it: beyond this many occurrences the rest is only counted. */
const MAX_STEPS = 10_000;

/** Records the occurrences of a run, in the order in which they began. */
export function createSteps(watcher: StepWatcher | null = null) {
  const began = performance.now();
  const list: Step[] = [];
  let leftOut = 0;

  function add(nodeId: bigint, name: string, place: { role: Role; parent: Step | null; now: number }): Step | null {
    if (list.length >= MAX_STEPS) {
      leftOut++;
      return null;
    }
    const { role, parent, now } = place;
    const step = newStep({ index: list.length, nodeId, name, role, parent, start: now - began });
    list.push(step);
    return step;
  }

  return {
    list,
    notRecorded: () => leftOut,
    begin(node: Node, role: Role, parent: Step | null, now: number): Step | null {
      const step = add(node.id, node.name, { role, parent, now });
      if (step) watcher?.began(step);
      return step;
    },
    /** Something the rule names and this client cannot run. */
    leftOut(node: Node, parent: Step | null, now: number): void {
      for (const { id, role, reason } of node.leftOut) {
        const step = add(id, '', { role, parent, now });
        if (step) Object.assign(step, { outcome: 'LEFT_OUT', error: reason });
      }
    },
    end(step: Step, now: number, outcome: StepOutcome): void {
      step.ms = now - began - step.start;
      step.outcome = outcome;
      watcher?.ended(step);
    },
  };
}

function newStep(place: Pick<Step, 'index' | 'nodeId' | 'name' | 'role' | 'parent' | 'start'>): Step {
  const { index, nodeId, name, role, parent, start } = place;
  const open = {
    ms: 0,
    outcome: 'UNFINISHED',
    inverted: false,
    error: null,
    instead: null,
    reads: none,
    writes: none,
  } as const;
  return { index, nodeId, name, role, parent, start, ...open };
}

/** Takes down in a step what its leaf does to the data. */
export function logInto(step: Step): AccessLog {
  let reads: Map<string, Read> | undefined;
  let writes: Map<string, Write> | undefined;
  return {
    read(accessed, value) {
      const name = nameOf(accessed);
      if (reads?.has(name) || writes?.has(name)) return;
      reads ??= new Map();
      reads.set(name, { ...accessed, value });
      step.reads = reads;
    },
    wrote(accessed, before, after) {
      const name = nameOf(accessed);
      const earlier = writes?.get(name);
      writes ??= new Map();
      writes.set(name, { ...accessed, before: earlier ? earlier.before : before, after });
      step.writes = writes;
    },
  };
}

/** Without a dot there is nothing to follow: `get('a')` and `getDeep('a')` read the same. */
function nameOf({ key, deep }: AccessedKey): string {
  return deep && key.includes('.') ? `deep ${key}` : `flat ${key}`;
}

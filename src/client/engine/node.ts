import type { Data } from './data/data.ts';
import type { Relation } from './relations.ts';
import type { ErrorState, State } from './state.ts';
import type { TimeWindow } from './time-window.ts';

/** Whether a leaf does more than read and write the data: `unsure` where neither its code nor its definition tells. */
export type Effects = 'none' | 'some' | 'unsure';

/** Something that should have been a child or a forward condition and is not there, or cannot run. */
export type LeftOut = { id: bigint; role: Role; reason: string };

/** How a node stands under its parent. */
export type Role = 'root' | 'forward' | 'child';

/** Runs a leaf's code once. Throws, or rejects with, whatever that code throws. */
type RunLeaf = (data: Data) => State | Promise<State>;

/** The reaction of a node's own error handler. */
export type HandleError = (data: Data, error: unknown) => ErrorState;

/** A node ready to run. A node that stands in several places of a tree is one object. */
export type Node = {
  readonly id: bigint;
  /** The node's name in traces: the relation, or the short name of the leaf's class. */
  readonly name: string;
  /** How its entries in a process text begin: `[id:name:`. */
  readonly head: string;
  readonly window: TimeWindow | null;
  readonly inverse: boolean;
  readonly errorState: ErrorState | null;
  readonly body:
    | { kind: 'relation'; relation: Relation }
    /** `onlyComputes`: nothing of it can run after it has returned. `effects`: what it does besides. */
    | { kind: 'leaf'; run: RunLeaf; handleError: HandleError | null; onlyComputes: boolean; effects: Effects };
  forward: Node | null;
  children: readonly Node[];
  leftOut: readonly LeftOut[];
};

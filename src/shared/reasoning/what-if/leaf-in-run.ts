import type { Json } from '../../json-tree/read-json.ts';
import { type Condition, conditionOf, fulfils } from '../comparison.ts';
import { type Decision, decisionOf, type NodeTrace, ownOf } from '../trace/node-trace.ts';
import type { Occurrence } from '../tree.ts';

/** A run whose input is to be changed. */
export type RunToChange = {
  occurrences: readonly Occurrence[];
  nodeTraces: ReadonlyMap<Occurrence, NodeTrace>;
  /** Whether the trace says what each leaf read. */
  tracesReads: boolean;
  input: Json | null;
  /** Epoch ms. */
  ranAt: number;
};

/** What is known for another version of the rule than that of the run. */
export type OtherVersion = {
  was: (at: Occurrence) => Occurrence | null;
  written: ReadonlySet<string>;
  /** What a leaf came to that was run for it; null where it was not. */
  tried: (at: Occurrence) => Decision | null;
};

export type RunThatWas = Omit<RunToChange, 'input'> & {
  input: (key: string, nested: boolean) => Json | undefined;
  version?: OtherVersion | undefined;
};

/** The same leaf in the run; null where another version has one that did not run. */
export const inRun = (at: Occurrence, { version }: RunThatWas): Occurrence | null => (version ? version.was(at) : at);

/** A leaf in the run that was. `kept`: what its own code came to, if it ran. `reads`: null where that is not known. */
export type Leaf = {
  kept: Decision | null;
  reads: string[] | null;
  writes: string[];
  condition: Condition | null;
};

export function leafIn(at: Occurrence, run: RunThatWas): Leaf {
  const was = inRun(at, run);
  const nodeTrace = was ? run.nodeTraces.get(was) : undefined;
  const kept = was && nodeTrace ? keptOf(was, nodeTrace, run.nodeTraces) : null;
  const { keys } = at.node;
  const declared = (...directions: string[]) =>
    keys.filter(({ direction }) => directions.includes(direction)).map(({ key }) => key);
  const writes = [...declared('write', 'read_write'), ...(nodeTrace?.writes ?? []).map(({ key }) => key)];
  const known = declared('read', 'read_write');
  const isKnown = known.length > 0 && !keys.some(({ dynamic }) => dynamic);
  // A trace may leave out some reads of a leaf that reads very many.
  const traced = run.tracesReads && nodeTrace ? [...known, ...nodeTrace.reads.map(({ key }) => key)] : null;
  const reads = traced ?? (isKnown ? known : null);
  return { kept, reads, writes, condition: trusted(at, kept, { nodeTrace, run }) };
}

/** The result of a leaf's own code, before its condition and inversion; null where it did not run or the trace does not say. */
export function keptOf(at: Occurrence, nodeTrace: NodeTrace, nodeTraces: RunThatWas['nodeTraces']): Decision | null {
  const own = ownOf(nodeTrace);
  const condition = at.forward && nodeTraces.get(at.forward);
  const byCondition = condition && decisionOf(condition) === 'TRUE' && at.node.type === 'LeafNone';
  return own !== null && byCondition && nodeTrace.error === null ? 'NONE' : own;
}

/** The condition of a leaf, unless its result says otherwise. */
function trusted(
  at: Occurrence,
  kept: Decision | null,
  { nodeTrace, run }: { nodeTrace: NodeTrace | undefined; run: RunThatWas },
) {
  const condition = conditionOf(at.node);
  if (condition === null || kept === null || nodeTrace?.error !== null) return condition;
  const read = nodeTrace.reads.find(({ key }) => key === condition.key)?.value;
  const holds = fulfils(condition, read ?? run.input(condition.key, condition.nested));
  return holds === null || holds === (kept === 'TRUE') ? condition : null;
}

/** A key with dots leads into an object: who writes or changes one of its members changes the object. */
export function topOf(key: string): string {
  return key.split('.', 1)[0] ?? key;
}

import { constantOf, isPassedOn, kindOf } from './constant.ts';
import { type Decision, decisionOf, inverted, type NodeTrace, ownOf } from './trace/node-trace.ts';
import { isLeaf, isParallel, type Occurrence } from './tree.ts';

/**
 * One link of the chain of reasons from a node down to the leaf that decided. The words are in the dictionaries. `countsAs`: what an inverted leaf
 * counts as.
 */
export type Reason = { at: Occurrence } & (
  | { kind: 'leaf'; decision: Decision; countsAs: Decision | null }
  | { kind: 'stopped' | 'decided'; decision: Decision; by: Occurrence }
  /** `all`: every node below it came to the same; else those that are not named gave no answer. */
  | { kind: 'none-held' | 'all-held'; decision: Decision; by: Occurrence[]; all: boolean }
  /** The first two of a dry run. */
  | { kind: 'stubbed' | 'assumed' | 'no-opinion' | 'always'; decision: Decision }
  /** It should always have come to one result, and came to that of its only child. */
  | { kind: 'passed-on'; by: Occurrence; decision: Decision }
  | { kind: 'rejected'; by: Occurrence | null }
  | { kind: 'condition-held' | 'failed-below'; by: Occurrence }
  | { kind: 'out-of-time' | 'left-out' | 'unfinished' | 'unlisted' }
  | { kind: 'inverted'; from: Decision; to: Decision }
  | { kind: 'error'; message: string | null }
  | { kind: 'absorbed'; message: string; decision: Decision }
);

type NodeTraces = ReadonlyMap<Occurrence, NodeTrace>;
/** The reasons of one occurrence, and the occurrence below it whose reasons come next, if any. */
type Explained = [reasons: Reason[], next: Occurrence | null];

/** Why an occurrence came to its result: the chain of reasons, the topmost first. Empty when it did not run. */
export function whyOf(start: Occurrence, nodeTraces: NodeTraces): Reason[] {
  const nodeTrace = nodeTraces.get(start);
  if (!nodeTrace) return [];
  const [reasons, next] = explain(start, nodeTrace, nodeTraces);
  return next === null ? reasons : [...reasons, ...whyOf(next, nodeTraces)];
}

function explain(at: Occurrence, nodeTrace: NodeTrace, nodeTraces: NodeTraces): Explained {
  const { outcome, error, instead } = nodeTrace;
  switch (outcome) {
    case 'OUT_OF_TIME':
      return [[{ kind: 'out-of-time', at }], null];
    case 'LEFT_OUT':
      return [[{ kind: 'left-out', at }], null];
    case 'REJECTED':
      return [[{ kind: 'rejected', at, by: at.forward }], at.forward];
    case 'UNFINISHED':
      return [[{ kind: 'unfinished', at }], childThatFailed(at, nodeTraces)];
    case 'ERROR':
    case 'UNKNOWN': {
      const by = childThatFailed(at, nodeTraces);
      return [[by ? { kind: 'failed-below', at, by } : { kind: 'error', at, message: error }], by];
    }
  }
  const own = nodeTrace.inverted ? inverted(outcome) : outcome;
  const isHeld = at.node.type === 'LeafNone' && own === 'TRUE' && at.forward !== null;
  if (isLeaf(at.node) && error === null && instead === null && !isHeld)
    return [[{ kind: 'leaf', at, decision: own, countsAs: nodeTrace.inverted ? outcome : null }], null];
  const [reasons, next] = explainOwn(at, own, { nodeTrace, nodeTraces });
  return [nodeTrace.inverted ? [{ kind: 'inverted', at, from: own, to: outcome }, ...reasons] : reasons, next];
}

/** Why all but a plain leaf came to its result before inversion. */
function explainOwn(
  at: Occurrence,
  own: Decision,
  { nodeTrace, nodeTraces }: { nodeTrace: NodeTrace; nodeTraces: NodeTraces },
): Explained {
  const { error, instead } = nodeTrace;
  if (error !== null) return [[{ kind: 'absorbed', at, message: error, decision: own }], null];
  if (instead !== null) return [[{ kind: instead, at, decision: own }], null];
  const [only] = at.children;
  if (only && isPassedOn(at, nodeTrace)) return [[{ kind: 'passed-on', at, by: only, decision: own }], only];
  const kind = kindOf(at.node.type);
  const decisions = at.children.map((child) => ({ child, decision: decisionOf(nodeTraces.get(child)) }));
  const ran = decisions.filter(({ decision }) => decision !== null);
  const isOpen =
    isLeaf(at.node) || kind === 'None' || (kind !== 'True' && ran.every((each) => each.decision === 'NONE'));
  if (own === 'TRUE' && at.forward && isOpen) return [[{ kind: 'condition-held', at, by: at.forward }], null];
  if (own === constantOf(at.node.type)) return [[{ kind: 'always', at, decision: own }], null];
  if (own === 'NONE') return [[{ kind: 'no-opinion', at, decision: own }], null];
  const agreeing = ran.filter(({ decision }) => decision === own).map(({ child }) => child);
  const [deciding] = agreeing;
  if (deciding === undefined) return [[{ kind: 'unlisted', at }], null];
  const stops = (kind === 'And' && own === 'FALSE') || (kind === 'Any' && own === 'TRUE');
  const someDiffer = ran.some(({ decision }) => decision === inverted(own));
  if (stops || someDiffer || agreeing.length === 1) {
    const stopped = stops && !isParallel(at.node) && at.children.at(-1) !== deciding;
    const reason: Reason = { kind: stopped ? 'stopped' : 'decided', at, decision: own, by: deciding };
    return [[...absorbedBeside(deciding, at, nodeTraces), reason], deciding];
  }
  const all = agreeing.length === at.children.length;
  return [[{ kind: own === 'TRUE' ? 'all-held' : 'none-held', at, decision: own, by: agreeing, all }], null];
}

/** The nodes beside the one that decided which failed and count as what they are set to: without that failure it might not have decided. */
function absorbedBeside(deciding: Occurrence, { children }: Occurrence, nodeTraces: NodeTraces): Reason[] {
  return children.flatMap((at): Reason[] => {
    const nodeTrace = nodeTraces.get(at);
    const decision = nodeTrace ? ownOf(nodeTrace) : null;
    if (at === deciding || !nodeTrace || nodeTrace.error === null || decision === null) return [];
    return [{ kind: 'absorbed', at, message: nodeTrace.error, decision }];
  });
}

/** The child or condition whose failure is the failure of the occurrence above it. */
export function childThatFailed(at: Occurrence, nodeTraces: NodeTraces): Occurrence | null {
  const below = at.forward ? [at.forward, ...at.children] : at.children;
  const failed = ['ERROR', 'UNFINISHED', 'UNKNOWN'];
  return below.find((child) => failed.includes(nodeTraces.get(child)?.outcome ?? '')) ?? null;
}

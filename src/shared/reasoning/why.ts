import { constantOf, isPassedOn, kindOf } from './constant.ts';
import { type Decision, decisionOf, inverted, type NodeTrace } from './trace/node-trace.ts';
import { isLeaf, isParallel, type Occurrence } from './tree.ts';

/** One link of the chain of reasons from a node down to the leaf that decided. The words are in the dictionaries. */
export type Reason =
  /** `countsAs`: what an inverted one counts as. */
  | { kind: 'leaf'; at: Occurrence; decision: Decision; countsAs: Decision | null }
  | { kind: 'stopped' | 'decided'; at: Occurrence; decision: Decision; by: Occurrence; byDecision: Decision }
  /** `all`: every node below it came to the same; else those that are not named gave no answer. */
  | { kind: 'none-held' | 'all-held'; at: Occurrence; decision: Decision; by: Occurrence[]; all: boolean }
  /** Of a dry run. */
  | { kind: 'stubbed' | 'assumed'; at: Occurrence; decision: Decision }
  | { kind: 'no-opinion' | 'always'; at: Occurrence; decision: Decision }
  /** It should always have come to one result, and came to that of its only child. */
  | { kind: 'passed-on'; at: Occurrence; by: Occurrence; decision: Decision }
  | { kind: 'rejected'; at: Occurrence; by: Occurrence | null }
  | { kind: 'condition-held'; at: Occurrence; by: Occurrence }
  | { kind: 'out-of-time' | 'left-out' | 'unfinished' | 'unlisted'; at: Occurrence }
  | { kind: 'inverted'; at: Occurrence; from: Decision; to: Decision }
  | { kind: 'error'; at: Occurrence; message: string | null }
  | { kind: 'failed-below'; at: Occurrence; by: Occurrence }
  | { kind: 'absorbed'; at: Occurrence; message: string; decision: Decision };

type NodeTraces = ReadonlyMap<Occurrence, NodeTrace>;

/** Why an occurrence came to its result: the chain of reasons, the topmost first. Empty when it did not run. */
export function whyOf(start: Occurrence, nodeTraces: NodeTraces): Reason[] {
  const reasons: Reason[] = [];
  const seen = new Set<Occurrence>();
  let at: Occurrence | null = start;
  while (at && !seen.has(at)) {
    seen.add(at);
    const nodeTrace = nodeTraces.get(at);
    if (!nodeTrace) break;
    at = explain(at, nodeTrace, { nodeTraces, reasons });
  }
  return reasons;
}

/** Adds the reasons of one occurrence; the occurrence whose reasons come next, if any. */
function explain(
  at: Occurrence,
  nodeTrace: NodeTrace,
  { nodeTraces, reasons }: { nodeTraces: NodeTraces; reasons: Reason[] },
): Occurrence | null {
  const decision = decisionOf(nodeTrace);
  switch (nodeTrace.outcome) {
    case 'OUT_OF_TIME':
      reasons.push({ kind: 'out-of-time', at });
      return null;
    case 'LEFT_OUT':
      reasons.push({ kind: 'left-out', at });
      return null;
    case 'REJECTED':
      reasons.push({ kind: 'rejected', at, by: at.forward });
      return at.forward;
    case 'ERROR':
    case 'UNKNOWN': {
      const by = childThatFailed(at, nodeTraces);
      reasons.push(by ? { kind: 'failed-below', at, by } : { kind: 'error', at, message: nodeTrace.error });
      return by;
    }
    case 'UNFINISHED':
      reasons.push({ kind: 'unfinished', at });
      return childThatFailed(at, nodeTraces);
  }
  if (decision === null) return null;
  const own = nodeTrace.inverted ? inverted(decision) : decision;
  const isPlainLeaf =
    isLeaf(at.node) && nodeTrace.error === null && nodeTrace.instead === null && !isHeldByCondition(at, own);
  if (isPlainLeaf) {
    reasons.push({ kind: 'leaf', at, decision: own, countsAs: nodeTrace.inverted ? decision : null });
    return null;
  }
  if (nodeTrace.inverted) reasons.push({ kind: 'inverted', at, from: own, to: decision });
  if (nodeTrace.error !== null) {
    reasons.push({ kind: 'absorbed', at, message: nodeTrace.error, decision: own });
    return null;
  }
  if (nodeTrace.instead !== null) {
    reasons.push({ kind: nodeTrace.instead, at, decision: own });
    return null;
  }
  if (isLeaf(at.node) && at.forward) {
    reasons.push({ kind: 'condition-held', at, by: at.forward });
    return null;
  }
  return explainRelation(at, own, { nodeTraces, reasons });
}

/** A leaf that has no answer of its own, and whose condition is TRUE. */
function isHeldByCondition({ node, forward }: Occurrence, own: Decision): boolean {
  return node.type === 'LeafNone' && own === 'TRUE' && forward !== null;
}

function explainRelation(
  at: Occurrence,
  own: Decision,
  { nodeTraces, reasons }: { nodeTraces: NodeTraces; reasons: Reason[] },
): Occurrence | null {
  const kind = kindOf(at.node.type);
  const [only] = at.children;
  if (only && isPassedOn(at, nodeTraces.get(at))) {
    reasons.push({ kind: 'passed-on', at, by: only, decision: own });
    return only;
  }
  const decisions = at.children.map((child) => ({ child, decision: decisionIn(child, nodeTraces) }));
  const ran = decisions.filter(({ decision }) => decision !== null);
  const deciding = decisions.find(({ decision }) => decision === own)?.child ?? null;
  const hasNoneOfItsOwn = kind === 'None' || (kind !== 'True' && ran.every(({ decision }) => decision === 'NONE'));
  if (own === 'TRUE' && at.forward && hasNoneOfItsOwn) {
    reasons.push({ kind: 'condition-held', at, by: at.forward });
    return null;
  }
  if (own === constantOf(at.node.type)) {
    reasons.push({ kind: 'always', at, decision: own });
    return null;
  }
  if (own === 'NONE') {
    reasons.push({ kind: 'no-opinion', at, decision: own });
    return null;
  }
  if (deciding === null) {
    reasons.push({ kind: 'unlisted', at });
    return null;
  }
  const stops = (kind === 'And' && own === 'FALSE') || (kind === 'Any' && own === 'TRUE');
  const agreeing = ran.filter(({ decision }) => decision === own).map(({ child }) => child);
  const someDiffer = ran.some(({ decision }) => decision === inverted(own));
  if (stops || someDiffer || agreeing.length === 1) {
    reasons.push(...absorbedBeside(deciding, at, nodeTraces));
    const stopped = stops && !isParallel(at.node) && at.children.at(-1) !== deciding;
    reasons.push({ kind: stopped ? 'stopped' : 'decided', at, decision: own, by: deciding, byDecision: own });
    return deciding;
  }
  const all = agreeing.length === at.children.length;
  reasons.push({ kind: own === 'TRUE' ? 'all-held' : 'none-held', at, decision: own, by: agreeing, all });
  return null;
}

/** The nodes beside the one that decided which failed and count as what they are set to: without that failure it might not have decided. */
function absorbedBeside(deciding: Occurrence, { children }: Occurrence, nodeTraces: NodeTraces): Reason[] {
  return children.flatMap((child): Reason[] => {
    const nodeTrace = nodeTraces.get(child);
    const decision = nodeTrace === undefined ? null : decisionOf(nodeTrace);
    if (
      child === deciding ||
      !nodeTrace ||
      nodeTrace.error === null ||
      decision === null ||
      nodeTrace.outcome === 'LEFT_OUT'
    )
      return [];
    return [
      {
        kind: 'absorbed',
        at: child,
        message: nodeTrace.error,
        decision: nodeTrace.inverted ? inverted(decision) : decision,
      },
    ];
  });
}

/** The child or condition whose failure is the failure of the occurrence above it. */
export function childThatFailed(at: Occurrence, nodeTraces: NodeTraces): Occurrence | null {
  const below = at.forward ? [at.forward, ...at.children] : at.children;
  return (
    below.find((child) => {
      const outcome = nodeTraces.get(child)?.outcome;
      return outcome === 'ERROR' || outcome === 'UNFINISHED' || outcome === 'UNKNOWN';
    }) ?? null
  );
}

function decisionIn(child: Occurrence, nodeTraces: NodeTraces): Decision | null {
  const nodeTrace = nodeTraces.get(child);
  return nodeTrace ? decisionOf(nodeTrace) : null;
}

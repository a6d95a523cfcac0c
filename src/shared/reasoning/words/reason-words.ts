import type { Json } from '../../json-tree/read-json.ts';
import { constantOf } from '../constant.ts';
import { type Facts, factsOf } from '../facts.ts';
import type { Decision, NodeTrace } from '../trace/node-trace.ts';
import type { Occurrence } from '../tree.ts';
import type { Reason } from '../why.ts';
import type { ReasonKey } from './english.ts';

/**
 * One reason as a sentence: its key in the dictionaries, and what stands for the names in it. `decisions` are TRUE, FALSE or NONE, in the words
 * of the language. `facts`: what a leaf decided by. `window`: its time window is named, and when the rule ran.
 */
export type ReasonWords = {
  key: ReasonKey;
  nodes: Record<string, Occurrence | readonly Occurrence[]>;
  decisions: Record<string, Decision>;
  texts: Record<string, string | number>;
  facts: Facts | null;
  window: boolean;
};

/** The input of a run, and what its trace says of each place. */
type Ran = { nodeTraces: ReadonlyMap<Occurrence, NodeTrace>; input: Json | null };

export function wordsOf(reason: Reason, { nodeTraces, input }: Ran): ReasonWords {
  const plain = { nodes: { node: reason.at }, decisions: {}, texts: {}, facts: null, window: false };
  switch (reason.kind) {
    case 'leaf':
      return { ...plain, ...ofLeaf(reason, { nodeTraces, input }) };
    case 'stopped':
    case 'decided':
      return { ...both(reason, reason.by), key: `why.${reason.kind}`, decisions: { decision: reason.decision } };
    case 'none-held':
    case 'all-held':
      return {
        ...plain,
        key: reason.all ? `why.${reason.kind}` : `why.${reason.kind}.some`,
        nodes: { node: reason.at, nodes: reason.by },
        texts: { n: reason.by.length },
      };
    case 'stubbed':
    case 'assumed':
    case 'no-opinion':
    case 'always':
      return { ...plain, key: `why.${reason.kind}`, decisions: { decision: reason.decision } };
    case 'passed-on': {
      const defined = constantOf(reason.at.node.type) ?? 'NONE';
      return { ...both(reason, reason.by), key: 'why.passed-on', decisions: { decision: reason.decision, defined } };
    }
    case 'rejected':
      return reason.by === null
        ? { ...plain, key: 'why.rejected.plain' }
        : { ...both(reason, reason.by), key: 'why.rejected' };
    case 'condition-held':
      return { ...both(reason, reason.by), key: 'why.condition-held' };
    case 'failed-below':
      return { ...both(reason, reason.by), key: 'why.failedBelow' };
    case 'out-of-time':
      return { ...plain, ...outOfTime(reason.at) };
    case 'left-out':
    case 'unfinished':
    case 'unlisted':
      return { ...plain, key: `why.${reason.kind}` };
    case 'inverted':
      return { ...plain, key: 'why.inverted', decisions: { from: reason.from, to: reason.to } };
    case 'error':
      return reason.message === null
        ? { ...plain, key: 'why.error.plain' }
        : { ...plain, key: 'why.error', texts: { message: reason.message } };
    case 'absorbed':
      return {
        ...plain,
        key: 'why.absorbed',
        decisions: { decision: reason.decision },
        texts: { message: reason.message },
      };
  }
}

type LeafWords = Pick<ReasonWords, 'key' | 'decisions'> & { facts?: Facts };

function ofLeaf({ at, decision, countsAs }: Extract<Reason, { kind: 'leaf' }>, { nodeTraces, input }: Ran): LeafWords {
  const facts = factsOf(at, nodeTraces.get(at), input);
  const [leaf, decisions] =
    countsAs === null
      ? (['why.leaf', { decision }] as const)
      : (['why.leaf.inverted', { from: decision, to: countsAs }] as const);
  if (facts.reads.length + facts.settings.length === 0) return { key: leaf, decisions };
  return { key: facts.areOthers ? `${leaf}.otherRules` : `${leaf}.facts`, decisions, facts };
}

/** Of a run on rules that nobody knows, the time window is not known either. */
function outOfTime({ node }: Occurrence): Pick<ReasonWords, 'key' | 'window'> {
  const isKnown = node.timeWindow.type !== 'always';
  return { key: isKnown ? 'why.out-of-time' : 'why.out-of-time.plain', window: isKnown };
}

function both({ at }: Reason, by: Occurrence) {
  return { nodes: { node: at, by }, decisions: {}, texts: {}, facts: null, window: false };
}

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

export function wordsOf(reason: Reason, ran: Ran): ReasonWords {
  const { at } = reason;
  const by = 'by' in reason ? reason.by : null;
  const message = 'message' in reason ? reason.message : null;
  const words = {
    nodes: { node: at, ...(Array.isArray(by) ? { nodes: by } : by && { by }) },
    decisions: {
      ...('decision' in reason && { decision: reason.decision }),
      ...(reason.kind === 'inverted' && { from: reason.from, to: reason.to }),
      ...(reason.kind === 'passed-on' && { defined: constantOf(at.node.type) ?? 'NONE' }),
    },
    texts: { ...(message !== null && { message }), ...(Array.isArray(by) && { n: by.length }) },
    facts: null,
    window: reason.kind === 'out-of-time' && hasWindow(at),
  };
  return reason.kind === 'leaf' ? { ...words, ...ofLeaf(reason, ran) } : { ...words, key: keyOf(reason) };
}

type OfLeaf = Extract<Reason, { kind: 'leaf' }>;

function keyOf(reason: Exclude<Reason, OfLeaf>): ReasonKey {
  switch (reason.kind) {
    case 'none-held':
    case 'all-held':
      return reason.all ? `why.${reason.kind}` : `why.${reason.kind}.some`;
    case 'rejected':
      return reason.by === null ? 'why.rejected.plain' : 'why.rejected';
    case 'error':
      return reason.message === null ? 'why.error.plain' : 'why.error';
    case 'out-of-time':
      return hasWindow(reason.at) ? 'why.out-of-time' : 'why.out-of-time.plain';
    default:
      return `why.${reason.kind}`;
  }
}

/** Of a run on rules that nobody knows, the time window is not known either. */
const hasWindow = ({ node }: Occurrence) => node.timeWindow.type !== 'always';

type LeafWords = Pick<ReasonWords, 'key' | 'decisions'> & { facts?: Facts };

function ofLeaf({ at, decision, countsAs }: OfLeaf, { nodeTraces, input }: Ran): LeafWords {
  const facts = factsOf(at, nodeTraces.get(at), input);
  const [leaf, decisions] =
    countsAs === null
      ? (['why.leaf', { decision }] as const)
      : (['why.leaf.inverted', { from: decision, to: countsAs }] as const);
  if (facts.reads.length + facts.settings.length === 0) return { key: leaf, decisions };
  return { key: facts.areOthers ? `${leaf}.otherRules` : `${leaf}.facts`, decisions, facts };
}

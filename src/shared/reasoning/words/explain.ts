import type { Json } from '../../json-tree/read-json.ts';
import type { Facts } from '../facts.ts';
import type { Result } from '../result.ts';
import type { Decision } from '../trace/node-trace.ts';
import { runOn } from '../trace/replay-result.ts';
import { ALWAYS, nameOf, occurrencesOf, type TimeWindow, type TreeNode } from '../tree.ts';
import { type SmallestChange, wayToOther } from '../what-if/smallest-change.ts';
import { whyOf } from '../why.ts';
import { say } from './english.ts';
import { changeOfKeyWords, factWords, nodesText, wantedWords } from './fact-words.ts';
import { type ReasonWords, wordsOf } from './reason-words.ts';

/** One node on the way from the root to what decided. */
type Step = { nodeId: string; name: string; outcome: string };
/**
 * `path` and `sentences` are empty where the trace does not say. `change`: the smallest change of the input with which the result would be
 * `to` (FALSE for a run that was TRUE), where that can be computed; values are JSON text, `assumed` the ids of consequences that count as
 * TRUE, `undeclared` those of conditions that do not declare what they come to without a value: by them fewer keys may do.
 */
type Explanation = {
  outcome: string | null;
  path: Step[];
  sentences: string[];
  change: {
    to: Decision;
    keys: { key: string; before: string | null; after: string }[];
    assumed: string[];
    undeclared: string[];
  } | null;
};

type Asked = { root: TreeNode; result: Result | null; input: Json | null; ranAt: number };

/** Why a run came out as it did, as English text: the nodes that decided, and a sentence for each. `ranAt`: epoch ms. */
export function explain({ root, result, input, ranAt }: Asked): Explanation {
  const occurrences = occurrencesOf(root);
  const { replay, decision: outcome, toChange } = runOn(occurrences, { result, input, ranAt });
  const { nodeTraces } = replay;
  const reasons = occurrences.slice(0, 1).flatMap((start) => whyOf(start, nodeTraces));
  if (reasons.length === 0) return { outcome: null, path: [], sentences: [], change: null };
  const change = wayToOther(toChange);
  const sentences = reasons.map((reason) =>
    sentenceOf(wordsOf(reason, { nodeTraces, input }), { ranAt, withWanted: change === null }),
  );
  const places = reasons.map(({ at }) => at).filter((at, index, all) => at !== all[index - 1]);
  return {
    outcome,
    path: places.map((at) => ({
      ...{ nodeId: at.node.id, name: nameOf(at.node), outcome: nodeTraces.get(at)?.outcome ?? '' },
    })),
    sentences: change === null ? sentences : [...sentences, changeSentence(change)],
    change: change && {
      to: change.to,
      keys: change.changes.map(({ key, before, after }) => ({ key, before, after })),
      assumed: change.assumed.map(({ node }) => node.id),
      undeclared: change.undeclared.map(({ node }) => node.id),
    },
  };
}

type How = { ranAt: number; withWanted: boolean };

function sentenceOf({ key, nodes, decisions, texts, facts, window }: ReasonWords, { ranAt, withWanted }: How): string {
  const named = Object.fromEntries(Object.entries(nodes).map(([name, of]) => [name, nodesText([of].flat(), say)]));
  const timed = window ? { window: windowText([nodes.node].flat()[0]?.node.timeWindow), time: iso(ranAt) } : {};
  const given = facts === null ? {} : { facts: factsText(facts) };
  const sentence = say(key, { ...decisions, ...texts, ...named, ...timed, ...given });
  const wanted = withWanted && facts && wantedWords(facts);
  return wanted ? `${sentence} ${say(wanted.text, { key: wanted.key, value: wanted.value })}` : sentence;
}

function changeSentence({ to, changes, assumed, undeclared }: SmallestChange & { to: Decision }): string {
  const words = { decision: to, changes: changes.map((change) => changeOfKeyWords(change, say)).join(', ') };
  const sentence =
    assumed.length === 0
      ? say('why.change', words)
      : say('why.change.assumed', { ...words, n: assumed.length, nodes: nodesText(assumed, say) });
  if (undeclared.length === 0) return sentence;
  return `${sentence} ${say('why.change.undeclared', { n: undeclared.length, nodes: nodesText(undeclared, say) })}`;
}

function factsText(facts: Facts): string {
  const { reads, settings } = factWords(facts, say);
  const from = facts.from === 'input' && reads.length > 0 ? `${say('why.inInput')} ` : '';
  return `${from}${[...reads, ...settings].join(', ')}`;
}

function windowText(window: TimeWindow | undefined): string {
  const { type, start, end } = window ?? ALWAYS;
  return say(`node.window.${type}`, { start: iso(Number(start ?? 0)), end: iso(Number(end ?? 0)) });
}

const iso = (ms: number) => (Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms} ms since 1970`);

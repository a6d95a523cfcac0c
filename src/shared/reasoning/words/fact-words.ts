import { compactJson } from '../../json-tree/print-json.ts';
import { compactText } from '../../json-tree/whole-text.ts';
import type { Facts } from '../facts.ts';
import type { Read } from '../trace/node-trace.ts';
import { type Comparison, nameOf, type Occurrence, type Setting } from '../tree.ts';
import type { KeyChange } from '../what-if/smallest-change.ts';
import type { ReasonKey, Say } from './english.ts';

const MAX_NAMED = 3;
const MAX_NODES = 4;
const MAX_VALUE = 60;

/** The names of nodes, such as “gate” #1. */
export function nodesText(all: readonly Occurrence[], say: Say): string {
  const names = all.slice(0, MAX_NODES).map(({ node }) => `“${nameOf(node)}” #${node.id}`);
  const more = all.length - names.length;
  return more > 0 ? `${names.join(', ')} ${say('why.more', { n: more })}` : names.join(', ');
}

/** The values that a leaf read, and the settings it compared them with, as short texts such as "cost is 5" and "min is 100". */
export function factWords({ reads, settings }: Facts, say: Say): { reads: string[]; settings: string[] } {
  return {
    reads: reads.slice(0, MAX_NAMED).map((read) => readWords(read, say)),
    settings: settings.slice(0, MAX_NAMED).map((setting) => settingWords(setting, say)),
  };
}

/** Which value would have made a condition TRUE: the sentence by its key, and what stands in it. */
export function wantedWords({ wanted }: Facts): { text: ReasonKey; key: string; value: string } | null {
  return wanted && { text: wantedKeys[wanted.is], key: wanted.key, value: shortened(compactText(wanted.value)) };
}

const wantedKeys = {
  '>=': 'why.wanted.atLeast',
  '>': 'why.wanted.moreThan',
  '<=': 'why.wanted.atMost',
  '<': 'why.wanted.lessThan',
  '=': 'why.wanted.equal',
  '!=': 'why.wanted.other',
  in: 'why.wanted.in',
  'not-in': 'why.wanted.notIn',
} as const satisfies Record<Comparison['is'], ReasonKey>;

/** One change of an input as a short text such as "cost = 100". */
export function changeOfKeyWords({ key, before, after, other }: KeyChange, say: Say): string {
  return other && before !== null
    ? say('why.change.other', { key, value: shortened(before) })
    : say('why.change.value', { key, value: shortened(after) });
}

export function readWords({ key, value, size }: Read, say: Say): string {
  if (value) return say('trace.is', { key, value: shortened(compactJson(value)) });
  return size === null
    ? say('trace.read.missing', { key })
    : say('trace.is', { key, value: say('json.tooLong', { n: size }) });
}

export function settingWords({ field, value, configured }: Setting, say: Say): string {
  const text = shortened(compactText(value));
  return say(configured ? 'trace.is' : 'trace.is.default', { key: field, value: text });
}

export function shortened(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}

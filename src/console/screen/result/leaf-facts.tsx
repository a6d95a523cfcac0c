import { compactJson } from '../../json/print-json.ts';
import { compactText } from '../../json/whole-text.ts';
import { type Say, Sentence, useText } from '../../text/use-text.tsx';
import type { Facts } from '../../trace/facts.ts';
import type { Read } from '../../trace/mark.ts';
import type { Comparison, Setting } from '../../trace/tree.ts';

const MAX_NAMED = 3;
const MAX_VALUE = 60;

/** What a leaf read, and the settings it compared that with: "cost is 5, min is 100". */
export function LeafFacts({ facts: { reads, from, settings } }: { facts: Facts }) {
  const { say } = useText();
  const values = reads.slice(0, MAX_NAMED).map((read) => readWords(read, say));
  const configured = settings.slice(0, MAX_NAMED).map((setting) => settingWords(setting, say));
  return (
    <>
      {from === 'input' && values.length > 0 && `${say('why.inInput')} `}
      {[...values, ...configured].map((text, index) => (
        <span key={text}>
          {index > 0 && ', '}
          <code>{text}</code>
        </span>
      ))}
    </>
  );
}

/** Which value would have made a condition TRUE. */
export function Wanted({ facts: { wanted } }: { facts: Facts }) {
  if (wanted === null) return null;
  const { key, is, value } = wanted;
  return (
    <Sentence
      text={wantedKeys[is]}
      parts={{ key: <code>{key}</code>, value: <code>{shortened(compactText(value))}</code> }}
    />
  );
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
} as const satisfies Record<Comparison['is'], string>;

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

import type { ReactNode } from 'react';
import type { Facts } from '../../../shared/reasoning/facts.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Reason } from '../../../shared/reasoning/why.ts';
import { factWords, wantedWords } from '../../../shared/reasoning/words/fact-words.ts';
import { type ReasonWords, wordsOf } from '../../../shared/reasoning/words/reason-words.ts';
import type { Reading } from '../../run/reading.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import { NodeLink } from '../tree/node-link.tsx';
import { windowWords } from './time-window-words.ts';

/** `withWanted`: a leaf says with which value it would be TRUE. */
type Props = {
  why: readonly Reason[];
  reading: Reading;
  withWanted: boolean;
  onChoose: (occurrence: Occurrence) => void;
};

const MAX_NODES = 4;

/** The chain of reasons in sentences, the nodes in them to be pressed. */
export function Why({ why, reading, withWanted, onChoose }: Props) {
  const node = (occurrence: Occurrence) => <NodeLink occurrence={occurrence} onChoose={onChoose} />;
  const ran = { nodeTraces: reading.replay.nodeTraces, input: reading.before };
  return why.map((reason, index) => (
    <span className="reason" key={`${reason.kind} ${reason.at.index}`}>
      {index > 0 && ' '}
      <OneReason reason={reason} words={wordsOf(reason, ran)} {...{ reading, withWanted, node }} />
    </span>
  ));
}

type Node = (occurrence: Occurrence) => ReactNode;
type OneProps = Pick<Props, 'reading' | 'withWanted'> & { reason: Reason; words: ReasonWords; node: Node };

function OneReason({ reason, words, reading, withWanted, node }: OneProps) {
  const { say, moment } = useText();
  const { key, nodes, decisions, texts, facts, window } = words;
  const parameters = {
    ...texts,
    ...Object.fromEntries(Object.entries(decisions).map(([name, decision]) => [name, say(`outcome.${decision}`)])),
    ...(window && {
      window: windowWords(reason.at.node.timeWindow, { say, moment }),
      time: moment(String(reading.ranAt)),
    }),
  };
  const parts = Object.fromEntries(
    Object.entries(nodes).map(([name, of]) => [name, <Nodes key={name} of={[of].flat()} node={node} />]),
  );
  return (
    <>
      <Sentence
        text={key}
        with={parameters}
        parts={{ ...parts, ...(facts && { facts: <LeafFacts facts={facts} /> }) }}
      />
      {facts && withWanted && <Wanted facts={facts} />}
    </>
  );
}

/** Some nodes by their names, to be pressed. */
export function Nodes({ of, node }: { of: readonly Occurrence[]; node: Node }) {
  const { say } = useText();
  const more = of.length - MAX_NODES;
  return (
    <>
      {of.slice(0, MAX_NODES).map((occurrence, index) => (
        <span key={occurrence.index}>
          {index > 0 && ', '}
          {node(occurrence)}
        </span>
      ))}
      {more > 0 && ` ${say('why.more', { n: more })}`}
    </>
  );
}

/** The values that a leaf read, and the settings it compared them with: "cost is 5, min is 100". */
function LeafFacts({ facts }: { facts: Facts }) {
  const { say } = useText();
  const { reads, settings } = factWords(facts, say);
  return (
    <>
      {facts.from === 'input' && reads.length > 0 && `${say('why.inInput')} `}
      {[...reads, ...settings].map((text, index) => (
        <span key={text}>
          {index > 0 && ', '}
          <code>{text}</code>
        </span>
      ))}
    </>
  );
}

/** Which value would have made a condition TRUE. */
export function Wanted({ facts }: { facts: Facts }) {
  const wanted = wantedWords(facts);
  if (wanted === null) return null;
  return (
    <span>
      {' '}
      <Sentence text={wanted.text} parts={{ key: <code>{wanted.key}</code>, value: <code>{wanted.value}</code> }} />
    </span>
  );
}

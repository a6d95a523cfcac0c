import type { Facts } from '../../../shared/reasoning/facts.ts';
import { factWords, wantedWords } from '../../../shared/reasoning/words/fact-words.ts';
import { Sentence, useText } from '../../text/use-text.tsx';

/** The values that a leaf read, and the settings it compared them with: "cost is 5, min is 100". */
export function LeafFacts({ facts }: { facts: Facts }) {
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

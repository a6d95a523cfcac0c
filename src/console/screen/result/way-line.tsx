import { useMemo } from 'react';
import { changeOfKeyWords } from '../../../shared/reasoning/fact-words.ts';
import { type SmallestChange, smallestChange } from '../../../shared/reasoning/smallest-change.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { withChange } from '../../cases/missing-case.ts';
import type { Reading } from '../../run/reading.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import type { Input } from '../input/use-input.ts';
import { NodeLink } from '../tree/node-link.tsx';
import { Nodes } from './why.tsx';

/** `to`: the node that would run; null where the result would be TRUE. */
type Props = {
  change: SmallestChange;
  to: Occurrence | null;
  input: Input;
  onChoose: (occurrence: Occurrence) => void;
};

/** With which change of its input a run would have come to something else. One press writes it into the form; nothing runs. */
export function WayLine({ change, to, input, onChoose }: Props) {
  const { say } = useText();
  const { changes, assumed } = change;
  const write = () => input.set(withChange(input.text, change));
  const node = (occurrence: Occurrence) => <NodeLink occurrence={occurrence} onChoose={onChoose} />;
  const words = changes.map((one, index) => (
    <span key={one.key}>
      {index > 0 && ', '}
      <code>{changeOfKeyWords(one, say)}</code>
    </span>
  ));
  return (
    <span className="way-line">
      <Sentence
        text={`${to === null ? 'why.change' : 'why.reach'}${assumed.length === 0 ? '' : '.assumed'}`}
        with={{ n: assumed.length }}
        parts={{ changes: words, node: to && node(to), nodes: <Nodes of={assumed} node={node} /> }}
      />{' '}
      {input.read.kind === 'ok' && (
        <button type="button" className="quiet" onClick={write}>
          {say('why.change.write')}
        </button>
      )}
    </span>
  );
}

type NodeProps = Pick<Props, 'input' | 'onChoose'> & { to: Occurrence; reading: Reading };

/** With which change of its input a run would have come to a node that it did not reach. */
export function WayToNode({ to, reading, input, onChoose }: NodeProps) {
  const change = useMemo(() => smallestChange(reading.toChange, { reached: to }), [to, reading]);
  if (change === null) return null;
  return (
    <p>
      <WayLine {...{ change, to, input, onChoose }} />
    </p>
  );
}

import { useMemo } from 'react';
import { factsOf } from '../../../../shared/reasoning/facts.ts';
import type { Occurrence } from '../../../../shared/reasoning/tree.ts';
import {
  type SmallestChange,
  smallestChange,
  wayToTrue,
} from '../../../../shared/reasoning/what-if/smallest-change.ts';
import { changeOfKeyWords } from '../../../../shared/reasoning/words/fact-words.ts';
import type { Reading } from '../../../run/reading.ts';
import { withChange } from '../../../run/with-change.ts';
import { Sentence, useText } from '../../../text/use-text.tsx';
import type { Input } from '../../input/use-input.ts';
import { NodeLink } from '../../tree/node-link.tsx';
import { Wanted } from '../leaf-facts.tsx';
import { Nodes } from '../why.tsx';

/** `to`: the node that would run; null where the result would be TRUE. */
type Props = {
  change: SmallestChange;
  to: Occurrence | null;
  input: Input;
  onChoose: (occurrence: Occurrence) => void;
};

/** With which change of its input a run would have come to something else. One press writes it into the form; nothing runs. */
function WayLine({ change, to, input, onChoose }: Props) {
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
      {to === null && ' '}
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

type RunProps = Pick<Props, 'input' | 'onChoose'> & { reading: Reading };

/** With which change of its input the result would be TRUE; where that cannot be said, with which value the node that decided would be. */
export function WayToTrue({ reading, input, onChoose }: RunProps) {
  const change = useMemo(() => wayToTrue(reading.toChange), [reading]);
  if (change !== null) return <WayLine {...{ change, to: null, input, onChoose }} />;
  const at = reading.why.at(-1)?.at;
  return at ? <Wanted facts={factsOf(at, reading.replay.marks.get(at), reading.before)} /> : null;
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

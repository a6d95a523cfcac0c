import { useMemo } from 'react';
import { factsOf } from '../../../shared/reasoning/facts.ts';
import type { Decision } from '../../../shared/reasoning/trace/node-trace.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { type SmallestChange, smallestChange, wayToOther } from '../../../shared/reasoning/what-if/smallest-change.ts';
import { changeOfKeyWords } from '../../../shared/reasoning/words/fact-words.ts';
import { withChange } from '../../run/form.ts';
import type { Reading } from '../../run/reading.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import type { Input } from '../input/use-input.ts';
import { NodeLink } from '../tree/node-link.tsx';
import { Nodes, Wanted } from './why.tsx';

/** `to`: the node that would run, or the result there would be. */
type Props = {
  change: SmallestChange;
  to: Occurrence | Decision;
  input: Input;
  onChoose: (occurrence: Occurrence) => void;
};

/** With which change of its input a run would have come to something else. One press writes it into the form; nothing runs. */
function WayLine({ change, to, input, onChoose }: Props) {
  const { say } = useText();
  const { changes, assumed, undeclared } = change;
  const isResult = typeof to === 'string';
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
      {isResult && ' '}
      <Sentence
        text={`${isResult ? 'why.change' : 'why.reach'}${assumed.length === 0 ? '' : '.assumed'}`}
        with={{ n: assumed.length, ...(isResult && { decision: to }) }}
        parts={{ changes: words, node: isResult ? null : node(to), nodes: <Nodes of={assumed} node={node} /> }}
      />{' '}
      {undeclared.length > 0 && (
        <Sentence
          text="why.change.undeclared"
          with={{ n: undeclared.length }}
          parts={{ nodes: <Nodes of={undeclared} node={node} /> }}
        />
      )}{' '}
      {input.read.kind === 'ok' && <Button label={say('why.change.write')} className="quiet" onPress={write} />}
    </span>
  );
}

type RunProps = Pick<Props, 'input' | 'onChoose'> & { reading: Reading };

/** With which change of its input the result would be another; where that cannot be said, with which value the node that decided would be TRUE. */
export function WayToOther({ reading, input, onChoose }: RunProps) {
  const change = useMemo(() => wayToOther(reading.toChange), [reading]);
  if (change !== null) return <WayLine {...{ change, to: change.to, input, onChoose }} />;
  const at = reading.why.at(-1)?.at;
  return at ? <Wanted facts={factsOf(at, reading.replay.nodeTraces.get(at), reading.before)} /> : null;
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

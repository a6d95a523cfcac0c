import type { ReactNode } from 'react';
import { compactJson } from '../../json/print-json.ts';
import type { Reading } from '../../run/reading.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import type { Decision, Read } from '../../trace/mark.ts';
import type { Occurrence } from '../../trace/tree.ts';
import type { Reason } from '../../trace/why.ts';
import { NodeLink } from '../tree/node-link.tsx';

type Props = { why: readonly Reason[]; reading: Reading; onChoose: (occurrence: Occurrence) => void };

const MAX_READS = 3;
const MAX_NODES = 4;
const MAX_VALUE = 60;

/** The chain of reasons in sentences, the nodes in them to be pressed. */
export function Why({ why, reading, onChoose }: Props) {
  const node = (occurrence: Occurrence) => <NodeLink occurrence={occurrence} onChoose={onChoose} />;
  return why.map((reason) => (
    <span className="reason" key={`${reason.kind} ${reason.at.index}`}>
      <OneReason reason={reason} reading={reading} node={node} />{' '}
    </span>
  ));
}

type OneProps = { reason: Reason; reading: Reading; node: (occurrence: Occurrence) => ReactNode };

function OneReason({ reason, reading, node }: OneProps) {
  const { say } = useText();
  const at = node(reason.at);
  const word = (decision: Decision) => say(`outcome.${decision}`);
  switch (reason.kind) {
    case 'leaf': {
      const reads = reading.replay.marks.get(reason.at)?.reads ?? [];
      const decision = word(reason.decision);
      if (reads.length === 0) return <Sentence text="why.leaf" with={{ decision }} parts={{ node: at }} />;
      return <Sentence text="why.leaf.read" with={{ decision }} parts={{ node: at, reads: <Reads reads={reads} /> }} />;
    }
    case 'stopped':
    case 'decided':
      return (
        <Sentence
          text={`why.${reason.kind}`}
          with={{ decision: word(reason.byDecision) }}
          parts={{ node: at, by: node(reason.by) }}
        />
      );
    case 'none-held':
    case 'all-held':
      return <Sentence text={`why.${reason.kind}`} parts={{ node: at, nodes: <Nodes of={reason.by} node={node} /> }} />;
    case 'no-opinion':
    case 'always':
      return <Sentence text={`why.${reason.kind}`} with={{ decision: word(reason.decision) }} parts={{ node: at }} />;
    case 'rejected':
      if (reason.by === null) return <Sentence text="why.rejected.plain" parts={{ node: at }} />;
      return <Sentence text="why.rejected" parts={{ node: at, by: node(reason.by) }} />;
    case 'condition-held':
      return <Sentence text="why.condition-held" parts={{ node: at, by: node(reason.by) }} />;
    case 'out-of-time':
    case 'left-out':
    case 'unfinished':
    case 'unlisted':
      return <Sentence text={`why.${reason.kind}`} parts={{ node: at }} />;
    case 'inverted':
      return (
        <Sentence text="why.inverted" with={{ from: word(reason.from), to: word(reason.to) }} parts={{ node: at }} />
      );
    case 'error':
      if (reason.message === null) return <Sentence text="why.error.plain" parts={{ node: at }} />;
      return <Sentence text="why.error" with={{ message: reason.message }} parts={{ node: at }} />;
    case 'failed-below':
      return <Sentence text="why.failedBelow" parts={{ node: at, by: node(reason.by) }} />;
    case 'absorbed':
      return (
        <Sentence
          text="why.absorbed"
          with={{ message: reason.message, decision: word(reason.decision) }}
          parts={{ node: at }}
        />
      );
  }
}

function Nodes({ of, node }: { of: readonly Occurrence[]; node: (occurrence: Occurrence) => ReactNode }) {
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

function Reads({ reads }: { reads: readonly Read[] }) {
  const { say } = useText();
  return reads.slice(0, MAX_READS).map(({ key, value, size }, index) => (
    <span key={key}>
      {index > 0 && ', '}
      <code>
        {value
          ? say('trace.read', { key, value: shortened(compactJson(value)) })
          : size === null
            ? say('trace.read.missing', { key })
            : say('trace.read', { key, value: say('json.tooLong', { n: size }) })}
      </code>
    </span>
  ));
}

export function shortened(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}

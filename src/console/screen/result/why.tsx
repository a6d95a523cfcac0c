import type { ReactNode } from 'react';
import type { Reading } from '../../run/reading.ts';
import { formatMoment } from '../../text/durations.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import { constantOf } from '../../trace/constant.ts';
import { factsOf } from '../../trace/facts.ts';
import type { Decision } from '../../trace/mark.ts';
import type { Occurrence } from '../../trace/tree.ts';
import type { Reason } from '../../trace/why.ts';
import { NodeLink } from '../tree/node-link.tsx';
import { LeafFacts, Wanted } from './leaf-facts.tsx';
import { windowWords } from './time-window-words.ts';

type Props = { why: readonly Reason[]; reading: Reading; onChoose: (occurrence: Occurrence) => void };

const MAX_NODES = 4;

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
  const { say, language, zone } = useText();
  const at = node(reason.at);
  const word = (decision: Decision) => say(`outcome.${decision}`);
  switch (reason.kind) {
    case 'leaf': {
      const facts = factsOf(reason.at, reading.replay.marks.get(reason.at), reading.before);
      const decision = word(reason.decision);
      if (facts.reads.length + facts.settings.length === 0)
        return <Sentence text="why.leaf" with={{ decision }} parts={{ node: at }} />;
      return (
        <>
          <Sentence
            text="why.leaf.facts"
            with={{ decision }}
            parts={{ node: at, facts: <LeafFacts facts={facts} /> }}
          />{' '}
          <Wanted facts={facts} />
        </>
      );
    }
    case 'stopped':
    case 'decided':
      return (
        <Sentence
          text={`why.${reason.kind}`}
          with={{ decision: word(reason.decision) }}
          parts={{ node: at, by: node(reason.by) }}
        />
      );
    case 'none-held':
    case 'all-held':
      return (
        <Sentence
          text={reason.all ? `why.${reason.kind}` : `why.${reason.kind}.some`}
          with={{ n: reason.by.length }}
          parts={{ node: at, nodes: <Nodes of={reason.by} node={node} /> }}
        />
      );
    case 'no-opinion':
    case 'always':
      return <Sentence text={`why.${reason.kind}`} with={{ decision: word(reason.decision) }} parts={{ node: at }} />;
    case 'rejected':
      if (reason.by === null) return <Sentence text="why.rejected.plain" parts={{ node: at }} />;
      return <Sentence text="why.rejected" parts={{ node: at, by: node(reason.by) }} />;
    case 'passed-on':
      return (
        <Sentence
          text="why.passed-on"
          with={{ decision: word(reason.decision), defined: word(constantOf(reason.at.node.type) ?? 'NONE') }}
          parts={{ node: at, by: node(reason.by) }}
        />
      );
    case 'condition-held':
      return <Sentence text="why.condition-held" parts={{ node: at, by: node(reason.by) }} />;
    case 'out-of-time': {
      const { ts, history } = reading.execution.record;
      const ran = formatMoment(ts ?? String(reading.result?.executeAt ?? history[0]?.at ?? 0), language, zone);
      const window = windowWords(reason.at.node.timeWindow, { say, language, zone });
      return <Sentence text="why.out-of-time" with={{ window, time: ran }} parts={{ node: at }} />;
    }
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

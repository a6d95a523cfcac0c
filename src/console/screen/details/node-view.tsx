import type { ReactNode } from 'react';
import { compactJson } from '../../../shared/json-tree/print-json.ts';
import type { Json } from '../../../shared/json-tree/read-json.ts';
import { compactText } from '../../../shared/json-tree/whole-text.ts';
import type { NodeTrace, Read, Write } from '../../../shared/reasoning/trace/node-trace.ts';
import {
  type NodeKey,
  nameOf,
  type Occurrence,
  type Setting,
  type TimeWindow,
} from '../../../shared/reasoning/tree.ts';
import { whyOf } from '../../../shared/reasoning/why.ts';
import { goTo } from '../../state/location.ts';
import { pinNode } from '../../state/preferences.ts';
import { formatMs } from '../../text/durations.ts';
import { failureOfFault } from '../../text/service-words.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { skipOf } from '../../trace/visible-rows.ts';
import { Button } from '../../ui/button.tsx';
import { later } from '../../ui/later.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import type { Input } from '../input/use-input.ts';
import { edgesOf, windowWords } from '../result/time-window-words.ts';
import type { Run } from '../result/use-run.ts';
import { Why } from '../result/why.tsx';
import { relationWords, skipWords } from '../tree/node-link.tsx';

const WayToNode = later(() => import('../result/smallest-change.tsx').then(({ WayToNode }) => WayToNode));

type Props = {
  occurrence: Occurrence | null;
  occurrences: readonly Occurrence[];
  run: Run;
  input: Input;
  onChoose: (occurrence: Occurrence) => void;
};

/** One node: what it is, what it did in this run, and ways to run it. */
export function NodeView({ occurrence, occurrences, run, input, onChoose }: Props) {
  const { say, ofService } = useText();
  if (!occurrence) return <p className="empty-line">{say('node.none')}</p>;
  const { node } = occurrence;
  const places = occurrences.filter((other) => other.node.id === node.id).length;
  const reading = run.shown;
  const nodeTrace = reading?.replay.nodeTraces.get(occurrence);
  const skip = reading && !nodeTrace ? skipOf(occurrence, reading.replay.nodeTraces) : null;
  return (
    <div className="node-view">
      <h2 className="line">
        {nameOf(node)} <span className="node-id">#{node.id}</span>
        {nodeTrace && <OutcomeChip outcome={nodeTrace.outcome} />}
      </h2>
      {places > 1 && <p className="muted">{say('trace.shared', { n: places })}</p>}
      {reading && nodeTrace && (
        <p className="node-why">
          <Why why={whyOf(occurrence, reading.replay.nodeTraces)} withWanted {...{ reading, onChoose }} />
        </p>
      )}
      {skip && <p className="muted">{skipWords(skip, say)}</p>}
      {skip && reading && <WayToNode to={occurrence} {...{ reading, input, onChoose }} />}
      {run.dry.isOn && <PinHere nodeId={node.id} run={run} />}
      <dl className="stack">
        <Fact name={say('node.type')}>{typeWords(node.type, say)}</Fact>
        {node.className !== null && (
          <Fact name={say('node.class')}>
            <code>{node.className}</code>
          </Fact>
        )}
        {nodeTrace?.ms != null && <Fact name={say('node.time')}>{formatMs(nodeTrace.ms)}</Fact>}
        {nodeTrace?.error != null && <Fact name={say('node.error')}>{nodeTrace.error}</Fact>}
        <Settings settings={node.settings} />
        <Accessed keys={node.keys} nodeTrace={nodeTrace} />
        {node.errorState !== null && (
          <Fact name={say('node.onError')}>{say('node.onError.value', { state: node.errorState })}</Fact>
        )}
        <Window window={node.timeWindow} />
        {node.problems.length > 0 && (
          <Fact name={say('node.problems')}>
            {node.problems.map((problem) => (
              <span key={problem.message}>{ofService(failureOfFault(problem))}</span>
            ))}
          </Fact>
        )}
      </dl>
      {occurrence.parent && (
        <Button
          label={say('node.only')}
          onPress={() => {
            input.keepFor(node.id);
            goTo({ confId: node.id, run: null, runs: [], input: null }, { push: true });
          }}
        />
      )}
    </div>
  );
}

function typeWords(type: string, say: Say): string {
  if (type === 'LeafFlow' || type === 'LeafResult' || type === 'LeafNone') return say(`node.type.${type}`);
  return type === 'Unknown' ? say('node.type.Unknown') : relationWords(type, say);
}

const outcomes = [null, 'TRUE', 'FALSE', 'NONE'] as const;

function PinHere({ nodeId, run }: { nodeId: string; run: Run }) {
  const { say } = useText();
  return (
    <fieldset className="pin-here wrap">
      <legend className="muted">{say('dry.here')}</legend>
      {outcomes.map((outcome) => (
        <label key={outcome}>
          <input
            type="radio"
            name="pin-here"
            checked={(run.dry.pins[nodeId] ?? null) === outcome}
            onChange={() => pinNode(run.call().app, nodeId, outcome)}
          />
          {outcome === null ? say('dry.here.itself') : say(`outcome.${outcome}`)}
        </label>
      ))}
    </fieldset>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="fact">
      <dt className="muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Settings({ settings }: { settings: readonly Setting[] }) {
  const { say } = useText();
  if (settings.length === 0) return null;
  return (
    <Fact name={say('node.settings')}>
      {settings.map(({ field, name, value, configured }) => (
        <code className="key-value" key={field} title={name ?? undefined}>
          {field} <i>=</i> <b>{compactText(value)}</b> {!configured && <small>{say('node.default')}</small>}
        </code>
      ))}
    </Fact>
  );
}

function KeyValue({ name, value, before }: { name: string; value: Json | null; before?: Json | null }) {
  const { say } = useText();
  const text = (json: Json | null) => (json ? compactJson(json) : say('node.absent'));
  return (
    <code className="key-value">
      {name} <i>=</i> {before !== undefined && <del>{text(before)}</del>} <b>{text(value)}</b>
    </code>
  );
}

function Accessed({ keys, nodeTrace }: { keys: NodeKey[]; nodeTrace: NodeTrace | undefined }) {
  const { say } = useText();
  const reads: readonly Read[] = nodeTrace?.reads ?? [];
  const writes: readonly Write[] = nodeTrace?.writes ?? [];
  const mayRead = keys.filter(({ key, direction }) => direction !== 'write' && !reads.some((read) => read.key === key));
  const mayWrite = keys.filter(
    ({ key, direction }) => direction !== 'read' && !writes.some((write) => write.key === key),
  );
  return (
    <>
      {(reads.length > 0 || mayRead.length > 0) && (
        <Fact name={say('node.reads')}>
          {reads.map(({ key, value }) => (
            <KeyValue key={key} name={key} value={value} />
          ))}
          {mayRead.map(({ key }) => (
            <code key={key}>{key}</code>
          ))}
        </Fact>
      )}
      {(writes.length > 0 || mayWrite.length > 0) && (
        <Fact name={say('node.writes')}>
          {writes.map(({ key, before, after }) => (
            <KeyValue key={key} name={key} before={before} value={after} />
          ))}
          {mayWrite.map(({ key }) => (
            <code key={key}>{key}</code>
          ))}
        </Fact>
      )}
    </>
  );
}

function Window({ window }: { window: TimeWindow }) {
  const { say, moment } = useText();
  if (window.type === 'always') return null;
  return (
    <Fact name={say('node.window')}>
      <span>{windowWords(window, { say, moment })}</span>
      <span className="edges">
        {edgesOf(window).map(({ name, ts }) => (
          <Button label={say(`node.runAt.${name}`)} key={name} onPress={() => goTo({ ts })} />
        ))}
      </span>
    </Fact>
  );
}

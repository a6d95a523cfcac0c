import { useMemo, useState } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { type Change, diffJson } from '../../json/diff-json.ts';
import { unusedAndMissing, writersOf } from '../../run/form.ts';
import { nodesOfDryRun, type Reading } from '../../run/reading.ts';
import type { Place } from '../../state/location.ts';
import type { TextKey } from '../../text/en.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { ChangeValue } from '../../ui/change-value.tsx';
import { later } from '../../ui/later.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Input } from '../input/use-input.ts';
import type { Run } from '../result/use-run.ts';

const JsonView = later(() => import('../../ui/json-view.tsx').then(({ JsonView }) => JsonView), 'loading.page');
const CaseView = later(() => import('../tests/case-view.tsx').then(({ CaseView }) => CaseView), 'loading.case');
const NodeView = later(() => import('./node-view.tsx').then(({ NodeView }) => NodeView), 'loading.page');
const TimelineView = later(
  () => import('./timeline-view.tsx').then(({ TimelineView }) => TimelineView),
  'loading.page',
);
const RawView = later(() => import('./raw-view.tsx').then(({ RawView }) => RawView), 'loading.page');

export type Detail = 'changes' | 'output' | 'node' | 'timeline' | 'raw' | 'case';

type Props = {
  place: Place;
  run: Run;
  rule: RuleContext;
  input: Input;
  chosen: Occurrence | null;
  detail: Detail;
  onDetail: (detail: Detail) => void;
  onChoose: (occurrence: Occurrence) => void;
};

/** The changes of a run, its data, one node, and everything as it was written. */
export function DetailsPanel({ place, run, rule, input, chosen, detail: wanted, onDetail, onChoose }: Props) {
  const { say } = useText();
  const hasCase = place.item !== null || place.caseName !== null;
  const detail = wanted === 'case' && !hasCase ? 'changes' : wanted;
  const reading = run.shown;
  const empty = <p className="empty-line">{say('details.empty')}</p>;
  return (
    <Tabs
      label={say('nav.details')}
      tabs={[
        ...(hasCase ? [{ name: 'case', title: say('cases.column.name') } as const] : []),
        { name: 'changes', title: say('details.changes') },
        { name: 'output', title: say('details.output') },
        { name: 'node', title: say('details.node') },
        { name: 'timeline', title: say('details.timeline') },
        { name: 'raw', title: say('details.raw') },
      ]}
      chosen={detail}
      onChoose={onDetail}
    >
      {detail === 'case' && <CaseView key={`${place.batch} ${place.item} ${place.caseName}`} place={place} run={run} />}
      {detail === 'changes' && (reading ? <ChangesView reading={reading} rule={rule} onChoose={onChoose} /> : empty)}
      {detail === 'output' &&
        (reading?.after ? (
          <JsonView json={reading.after} label={say('details.output')} />
        ) : reading ? (
          <p className="empty-line">{say(withoutData(reading))}</p>
        ) : (
          empty
        ))}
      {detail === 'node' && (
        <NodeView occurrence={chosen} occurrences={rule.occurrences} {...{ run, input, onChoose }} />
      )}
      {detail === 'timeline' && (reading ? <TimelineView {...{ reading, chosen, onChoose }} /> : empty)}
      {detail === 'raw' && (reading ? <RawView reading={reading} /> : empty)}
    </Tabs>
  );
}

type ChangesProps = { reading: Reading; rule: RuleContext; onChoose: (occurrence: Occurrence) => void };

/** More rows than these at once are more than anybody reads, and slow to draw. */
const MORE = 200;

function ChangesView({ reading, rule, onChoose }: ChangesProps) {
  const { say } = useText();
  const [shown, setShown] = useState(MORE);
  const { before, after } = reading;
  const tree = rule.tree.data ?? null;
  const diff = useMemo(() => (before && after ? diffJson(before, after) : null), [before, after]);
  const usage = useMemo(() => (before && tree ? unusedAndMissing(before, tree) : null), [before, tree]);
  const changed = diff?.changes.filter(({ kind }) => kind !== 'same') ?? [];
  const touched = new Set(changed.map(({ key }) => key));
  const same = diff?.changes.filter(({ kind, key }) => kind === 'same' && !touched.has(key)) ?? [];
  const notCalled = [...nodesOfDryRun(reading, 'assumed'), ...nodesOfDryRun(reading, 'stubbed')];
  return (
    <div className="changes">
      {!after && <p className="empty-line">{say(withoutData(reading))}</p>}
      {diff && notCalled.length > 0 && (
        <p className="empty-line">{say('changes.notCalled', { nodes: notCalled.join(', ') })}</p>
      )}
      {diff && changed.length === 0 && notCalled.length === 0 && <p className="empty-line">{say('changes.none')}</p>}
      {changed.length > 0 && (
        <ul className="change-list">
          {changed.slice(0, shown).map((change) => (
            <ChangeRow
              key={`${change.kind} ${change.path}`}
              change={change}
              reading={reading}
              rule={rule}
              onChoose={onChoose}
            />
          ))}
        </ul>
      )}
      {changed.length > shown && (
        <Button
          label={say('changes.show', { n: Math.min(MORE, changed.length - shown) })}
          className="quiet more"
          onPress={() => setShown(shown + MORE)}
        />
      )}
      {diff !== null && diff.notListed > 0 && (
        <p className="empty-line">{say('changes.more', { n: diff.notListed })}</p>
      )}
      {same.length > 0 && (
        <details className="unchanged">
          <summary className="muted">{say('changes.same', { n: same.length })}</summary>
          <ul className="change-list">
            {same.slice(0, shown).map(({ path, after: value }) => (
              <li key={path} className="change same">
                <span className="sign">=</span>
                <code className="path">{path}</code>
                {value && <ChangeValue json={value} />}
              </li>
            ))}
          </ul>
        </details>
      )}
      {usage && usage.unread.length > 0 && (
        <p className="usage muted">
          <b>{say('changes.unread')}</b>{' '}
          {usage.unread.map((key) => (
            <code key={key}>{key}</code>
          ))}
        </p>
      )}
      {usage && usage.missing.length > 0 && (
        <p className="usage muted">
          <b>{say('changes.missing')}</b>{' '}
          {usage.missing.map(({ key, readers }) => (
            <span key={key}>{say('changes.missing.by', { key, nodes: readers.map((id) => `#${id}`).join(', ') })}</span>
          ))}
        </p>
      )}
    </div>
  );
}

const signs: Record<Change['kind'], string> = {
  added: '+',
  removed: '−',
  changed: '~',
  rewritten: '≈',
  rounded: '!',
  same: '=',
};

function ChangeRow({ change, reading, rule, onChoose }: { change: Change } & ChangesProps) {
  const { say } = useText();
  const { kind, path, before, after } = change;
  const { ids, certain } = writersOf(path, rule.tree.data ?? null, reading.replay.nodeTraces);
  return (
    <li className={`change ${kind}`}>
      <span className="sign" title={say(`changes.${kind}`, { n: 1 })}>
        {signs[kind]}
      </span>
      <code className="path">{path}</code>
      <span className="values">
        {before && <ChangeValue json={before} old />}
        {before && after && (
          <span className="arrow" aria-hidden="true">
            →
          </span>
        )}
        {after && <ChangeValue json={after} />}
      </span>
      {(kind === 'rewritten' || kind === 'rounded') && <small className="kind">{say(`changes.${kind}`)}</small>}
      {ids.length > 0 && (
        <small className="writers">
          <Sentence
            text={certain ? 'changes.by' : 'changes.byMaybe'}
            parts={{
              nodes: ids.map((id) => {
                const place = rule.occurrences.find(({ node }) => node.id === id);
                return (
                  <Button className="node-link" key={id} onPress={() => place && onChoose(place)}>
                    #{id}
                  </Button>
                );
              }),
            }}
          />
        </small>
      )}
    </li>
  );
}

function withoutData({ execution: { record } }: Reading): TextKey {
  const { ending } = record;
  if (ending === null || ending.code === null) return 'changes.failed';
  return ending.mayHaveRun ? 'changes.unknown' : 'changes.notRun';
}

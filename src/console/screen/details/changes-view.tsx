import { useMemo, useState } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { type Change, diffJson } from '../../json/diff-json.ts';
import { unusedAndMissing, writersOf } from '../../run/changes.ts';
import { nodesOfDryRun, type Reading } from '../../run/reading.ts';
import type { TextKey } from '../../text/en.ts';
import { Sentence, useText } from '../../text/use-text.tsx';
import { ChangeValue } from '../../ui/json-view.tsx';
import type { RuleContext } from '../frame/use-rule.ts';

type Props = { reading: Reading; rule: RuleContext; onChoose: (occurrence: Occurrence) => void };

/** More rows than these at once are more than anybody reads, and slow to draw. */
const MORE = 200;

/** The changes of the data: by key, before and after, with the nodes that wrote it. */
export function ChangesView({ reading, rule, onChoose }: Props) {
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
        <button type="button" className="quiet more" onClick={() => setShown(shown + MORE)}>
          {say('changes.show', { n: Math.min(MORE, changed.length - shown) })}
        </button>
      )}
      {diff !== null && diff.notListed > 0 && (
        <p className="empty-line">{say('changes.more', { n: diff.notListed })}</p>
      )}
      {same.length > 0 && (
        <details className="unchanged">
          <summary>{say('changes.same', { n: same.length })}</summary>
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
        <p className="usage">
          <b>{say('changes.unread')}</b>{' '}
          {usage.unread.map((key) => (
            <code key={key}>{key}</code>
          ))}
        </p>
      )}
      {usage && usage.missing.length > 0 && (
        <p className="usage">
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

function ChangeRow({ change, reading, rule, onChoose }: { change: Change } & Props) {
  const { say } = useText();
  const { kind, path, before, after } = change;
  const { ids, certain } = writersOf(path, rule.tree.data ?? null, reading.replay.marks);
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
                  <button type="button" className="node-link" key={id} onClick={() => place && onChoose(place)}>
                    #{id}
                  </button>
                );
              }),
            }}
          />
        </small>
      )}
    </li>
  );
}

/** Why there is no data after a run to be shown. */
export function withoutData({ execution: { record } }: Reading): TextKey {
  const { ending } = record;
  if (ending === null || ending.code === null) return 'changes.failed';
  return ending.mayHaveRun ? 'changes.unknown' : 'changes.notRun';
}

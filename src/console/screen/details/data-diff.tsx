import { useMemo } from 'react';
import type { Json } from '../../../shared/json-tree/read-json.ts';
import { diffJson } from '../../json/diff-json.ts';
import type { Reading } from '../../run/reading.ts';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { ChangeValue } from './change-value.tsx';

/** The data and inputs of two runs, where they differ. */
export function DataDiff({ a, b }: { a: Reading; b: Reading }) {
  return (
    <div className="data-diff">
      <Document title="compare.data" same="compare.sameData" a={a.after} b={b.after} />
      <Document title="compare.input" same="compare.sameInput" a={a.before} b={b.before} />
    </div>
  );
}

type Props = { title: TextKey; same: TextKey; a: Json | null; b: Json | null };

function Document({ title, same, a, b }: Props) {
  const { say } = useText();
  const differing = useMemo(() => (a && b ? diffJson(a, b).changes.filter(({ kind }) => kind !== 'same') : []), [a, b]);
  return (
    <section>
      <h3>{say(title)}</h3>
      {a && b && differing.length === 0 && <p className="empty-line">{say(same)}</p>}
      {!(a && b) && <p className="empty-line">{say(a || b ? 'compare.oneHasNone' : 'compare.bothHaveNone')}</p>}
      {differing.length > 0 && (
        <table className="diff-table">
          <thead>
            <tr>
              <th scope="col">{say('input.add.key')}</th>
              <th scope="col">A</th>
              <th scope="col">B</th>
            </tr>
          </thead>
          <tbody>
            {differing.map(({ path, before, after }) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                <td>{before ? <ChangeValue json={before} /> : <small>{say('node.absent')}</small>}</td>
                <td>{after ? <ChangeValue json={after} /> : <small>{say('node.absent')}</small>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

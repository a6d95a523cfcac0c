import type { Inputs } from '../../../cases/inputs/read-inputs.ts';
import { useText } from '../../../text/use-text.tsx';

const MAX_ROWS = 50;
const MAX_COLUMNS = 40;

/** The first inputs as a table, with what each column is read as. */
export function InputsPreview({ inputs, timeZone }: { inputs: Inputs; timeZone: string }) {
  const { columns, rows, count } = inputs;
  const { say } = useText();
  const shown = columns.slice(0, MAX_COLUMNS);
  return (
    <div className="inputs-preview" role="region" aria-label={say('inputs.preview')} tabIndex={0}>
      <table>
        <caption>{say('inputs.caption', { shown: Math.min(rows.length, MAX_ROWS), n: count })}</caption>
        <thead>
          <tr>
            {shown.map(({ name, type, read }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a header may be given twice, which the service refuses
              <th scope="col" key={index}>
                {name}{' '}
                <small>{type === 'time' ? say('inputs.type.time', { timeZone }) : say(`inputs.type.${type}`)}</small>
                {!read && type !== 'name' && type !== 'time' && (
                  <small className="unread">{say('inputs.unread')}</small>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a table that is read anew with every change
            <tr key={index}>
              {shown.map((_, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <td key={at}>{row[at]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {columns.length > MAX_COLUMNS && (
        <p className="muted">{say('inputs.more', { n: columns.length - MAX_COLUMNS })}</p>
      )}
    </div>
  );
}

import type { Refusal, SetAside } from '../../../../shared/cases/document/refusal.ts';
import { useText } from '../../../text/use-text.tsx';

type LineProps = { onLine: (line: number) => void };
type RowsProps = LineProps & { setAside: SetAside; leaveOut: boolean; onLeaveOut: (leaveOut: boolean) => void };

/** The rows with mistakes: to be mended in the text, or left out. */
export function SetAsideRows({ setAside, leaveOut, onLeaveOut, onLine }: RowsProps) {
  const { say } = useText();
  return (
    <>
      <Mistakes refusals={setAside.refusals} rows={setAside.cases} onLine={onLine} />
      <label className="check">
        <input type="checkbox" checked={leaveOut} onChange={({ target }) => onLeaveOut(target.checked)} />
        {say('inputs.leaveOut', { n: setAside.cases })}
      </label>
    </>
  );
}

/** Each mistake, with a button that goes to its line. `rows`: how many have one; absent where no row can be read. */
export function Mistakes({ refusals, rows, onLine }: LineProps & { refusals: readonly Refusal[]; rows?: number }) {
  const { say } = useText();
  return (
    <div className="notice bad inputs-mistakes" role="status">
      <p>{rows === undefined ? say('inputs.notCsv') : say('inputs.mistakes', { n: rows })}</p>
      <ul>
        {refusals.map(({ path, line, message }) => (
          <li key={`${line} ${path} ${message}`}>
            {line !== null && (
              <button type="button" className="quiet" onClick={() => onLine(line)}>
                {say('inputs.line', { line })}
              </button>
            )}{' '}
            <bdi>{path === 'body' ? message : `${path} ${message}`}</bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Selects a line of what was typed, from 1, and brings it into view. */
export function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null || field.readOnly) return;
  const lines = field.value.split('\n');
  const from = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  field.focus();
  field.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
  field.scrollTop = (field.scrollHeight / lines.length) * Math.max(0, line - 3);
}

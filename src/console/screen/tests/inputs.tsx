import { type DragEvent, type RefObject, useMemo, useRef, useState } from 'react';
import { noneSetAside, type SetAside } from '../../../shared/cases/document/refusal.ts';
import { decodeWhole, withoutMark } from '../../../shared/contract/json/utf8.ts';
import type { Problem } from '../../../shared/reasons/problems.ts';
import { type TextFault, textFault } from '../../../shared/reasons/text-faults.ts';
import { runInputs } from '../../cases/batch-call.ts';
import { type Inputs, type ReadInputs, readInputs } from '../../cases/inputs.ts';
import { useStart } from '../../cases/use-batches.ts';
import { type Place, printTarget } from '../../state/location.ts';
import { useZone } from '../../state/preferences.ts';
import { formatBytes } from '../../text/durations.ts';
import { failureOfProblem } from '../../text/remarks.ts';
import { failureOfText } from '../../text/service-words.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';
import { FileButton } from '../../ui/file-button.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { BatchHead } from './start-batch.tsx';

/** A text that is longer is kept beside the field: a browser writes it into one for seconds. */
const MAX_TYPED = 100_000;

/** `unreadable`: what is wrong with the file. */
type Source = { text: string; name: string | null; unreadable?: TextFault };
/** The last inputs, for as long as the page is open: they may be personal, so they are not stored. */
const last: { source: Source } = { source: { text: '', name: null } };

/** Many inputs at once: pasted, dropped or chosen; looked at, and then run on each target. */
export function NewInputs({ place, rule }: { place: Place; rule: RuleContext }) {
  const { say } = useText();
  const [source, setSource] = useState(last.source);
  const fields = rule.schema.data?.fields;
  const timeZone = useZone();
  const read = useMemo(() => readInputs(source.text, fields ?? [], timeZone), [source.text, fields, timeZone]);
  const [leaveOut, setLeaveOut] = useState(false);
  const [targets, setTargets] = useState(() => [place.target.kind === 'each' ? 'all' : printTarget(place.target)]);
  const starting = useStart();
  const { app, ruleId, confId } = place;
  const setAside = read.kind === 'inputs' ? read.inputs.setAside : noneSetAside;
  const field = useRef<HTMLTextAreaElement>(null);
  const show = (line: number) => selectLine(field.current, line);
  const take = (next: Source) => {
    last.source = next;
    // A reload would lose it: the browser asks first.
    window.onbeforeunload = next.text === '' ? null : (event) => event.preventDefault();
    starting.forget();
    setLeaveOut(false);
    setSource(next);
  };
  return (
    <div className="inputs-panel">
      <InputsSource source={source} onSource={take} field={field} />
      <div className="inputs-read">
        {read.kind === 'inputs' ? (
          <>
            {setAside.cases > 0 && (
              <SetAsideRows setAside={setAside} leaveOut={leaveOut} onLeaveOut={setLeaveOut} onLine={show} />
            )}
            {(setAside.cases === 0 || leaveOut) && (
              <BatchHead
                source="inputs"
                label={say('inputs.run', { n: read.inputs.count })}
                cases={read.inputs.count}
                inputCharacters={source.text.length}
                rule={rule}
                targets={targets}
                onTargets={setTargets}
                starting={starting}
                onStart={(how) =>
                  void starting.start((key) =>
                    runInputs({ app: app ?? '', ruleId, confId, ...how, timeZone, inputs: read.inputs }, key),
                  )
                }
              />
            )}
            <InputsPreview inputs={read.inputs} timeZone={timeZone} />
          </>
        ) : read.kind === 'mistakes' ? (
          <Mistakes refusals={read.refusals} onLine={show} />
        ) : (
          <p
            className={read.kind === 'empty' && source.unreadable === undefined ? 'empty-line' : 'notice bad'}
            role="status"
          >
            {source.unreadable
              ? say('inputs.unreadable', { name: source.name ?? '', error: failureOfText(source.unreadable) })
              : problemWords(read, say)}
          </p>
        )}
      </div>
    </div>
  );
}

type SourceProps = {
  source: Source;
  onSource: (source: Source) => void;
  field: RefObject<HTMLTextAreaElement | null>;
};

function InputsSource({ source, onSource, field }: SourceProps) {
  const { say } = useText();
  const [over, setOver] = useState(false);
  const takeFile = async (file: File | undefined) => {
    if (!file) return;
    const { name } = file;
    const bytes = await file.arrayBuffer().catch(() => null);
    const read = bytes && decodeWhole(withoutMark(new Uint8Array(bytes)));
    onSource(
      read?.kind === 'text'
        ? { text: read.text, name }
        : { text: '', name, unreadable: read?.fault ?? textFault('changing', {}) },
    );
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file) void takeFile(file);
    else onSource({ text: event.dataTransfer.getData('text'), name: null });
  };
  const isLong = source.text.length > MAX_TYPED;
  return (
    <fieldset
      className={over ? 'inputs-source over' : 'inputs-source'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="line wrap">
        <label htmlFor="inputs-text">{say('inputs.label')}</label>
        <FileButton
          label={say('inputs.file')}
          accept=".csv,.tsv,.txt,.json,text/csv,application/json"
          onFile={(file) => void takeFile(file)}
        />
        {(source.text !== '' || source.unreadable !== undefined) && (
          <Button label={say('inputs.clear')} className="quiet" onPress={() => onSource({ text: '', name: null })} />
        )}
      </div>
      <textarea
        id="inputs-text"
        ref={field}
        spellCheck={false}
        placeholder={say('inputs.placeholder')}
        readOnly={isLong}
        value={
          isLong ? say('inputs.long', { size: formatBytes(source.text.length), name: source.name ?? '' }) : source.text
        }
        onChange={({ target }) => onSource({ text: target.value, name: null })}
        onPaste={(event) => {
          const text = event.clipboardData.getData('text');
          if (text.length <= MAX_TYPED) return;
          event.preventDefault();
          onSource({ text, name: null });
        }}
      />
    </fieldset>
  );
}

function problemWords(read: Exclude<ReadInputs, { kind: 'inputs' | 'mistakes' }>, say: Say): string {
  switch (read.kind) {
    case 'empty':
      return say('inputs.empty');
    case 'not-json':
      return say('inputs.notJson', { line: read.line, message: failureOfText(read.fault) });
    case 'no-list':
      return say('inputs.noList');
  }
}

type LineProps = { onLine: (line: number) => void };
type RowsProps = LineProps & { setAside: SetAside; leaveOut: boolean; onLeaveOut: (leaveOut: boolean) => void };

function SetAsideRows({ setAside, leaveOut, onLeaveOut, onLine }: RowsProps) {
  const { say } = useText();
  return (
    <>
      <Mistakes refusals={setAside.errors} rows={setAside.cases} onLine={onLine} />
      <Check label={say('inputs.leaveOut', { n: setAside.cases })} checked={leaveOut} onCheck={onLeaveOut} />
    </>
  );
}

/** Each mistake, with a button that goes to its line. `rows`: how many have one; absent where no row can be read. */
function Mistakes({ refusals, rows, onLine }: LineProps & { refusals: readonly Problem[]; rows?: number }) {
  const { say, ofService } = useText();
  return (
    <div className="notice bad inputs-mistakes" role="status">
      <p>{rows === undefined ? say('inputs.notCsv') : say('inputs.mistakes', { n: rows })}</p>
      <ul>
        {refusals.map(({ field, code, params: { line, row, column, ...params } }) => (
          <li key={`${field} ${row} ${line} ${code}`}>
            {typeof line === 'number' && (
              <Button label={say('inputs.line', { line })} className="quiet" onPress={() => onLine(line)} />
            )}{' '}
            <bdi>
              {field === 'body' ? '' : `${field} `}
              {ofService(
                failureOfProblem({
                  field,
                  code,
                  params: field === 'header' && column ? { ...params, column } : params,
                }),
              )}
            </bdi>
          </li>
        ))}
      </ul>
    </div>
  );
}

function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null || field.readOnly) return;
  const lines = field.value.split('\n');
  const from = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  field.focus();
  field.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
  field.scrollTop = (field.scrollHeight / lines.length) * Math.max(0, line - 3);
}

const MAX_ROWS = 50;
const MAX_COLUMNS = 40;

function InputsPreview({ inputs, timeZone }: { inputs: Inputs; timeZone: string }) {
  const { columns, rows, count } = inputs;
  const { say } = useText();
  const shown = columns.slice(0, MAX_COLUMNS);
  return (
    <div className="inputs-preview scroll" role="region" aria-label={say('inputs.preview')} tabIndex={0}>
      <table>
        <caption className="muted">
          {say('inputs.caption', { shown: Math.min(rows.length, MAX_ROWS), n: count })}
        </caption>
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

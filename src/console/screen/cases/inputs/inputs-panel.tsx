import { type DragEvent, type RefObject, useMemo, useRef, useState } from 'react';
import { noneSetAside } from '../../../../shared/cases/document/refusal.ts';
import { decodeWhole, withoutMark } from '../../../../shared/contract/json/utf8.ts';
import { runInputs } from '../../../cases/inputs/batch-call.ts';
import { type ReadInputs, readInputs } from '../../../cases/inputs/read-inputs.ts';
import { useStart } from '../../../cases/use-start.ts';
import { goTo, printTarget } from '../../../state/location.ts';
import { useZone } from '../../../state/preferences.ts';
import { formatBytes } from '../../../text/durations.ts';
import { jsonWords } from '../../../text/json-words.ts';
import { type Say, useText } from '../../../text/use-text.tsx';
import { BatchResults } from '../batch-results.tsx';
import type { PanelProps } from '../panel-props.ts';
import { StartBatch } from '../start-batch.tsx';
import { TargetsField } from '../targets-field.tsx';
import { Mistakes, SetAsideRows, selectLine } from './input-mistakes.tsx';
import { InputsPreview } from './inputs-preview.tsx';

/** A text that is longer is kept beside the field: a browser writes it into one for seconds. */
const MAX_TYPED = 100_000;

/** `unreadable`: the file is not UTF-8, and where that shows. */
type Source = { text: string; name: string | null; unreadable?: { line: number; byte: number } | null };
/** The last inputs, for as long as the page is open: they may be personal, so they are not stored. */
const last: { source: Source } = { source: { text: '', name: null } };

/** Many inputs at once: pasted, dropped or chosen; looked at, and then run on each target. */
export function InputsPanel({ place, rule, onOpen }: PanelProps) {
  const { say } = useText();
  const [source, setSource] = useState(last.source);
  const fields = rule.schema.data?.fields;
  const timeZone = useZone();
  const read = useMemo(() => readInputs(source.text, fields ?? [], timeZone), [source.text, fields, timeZone]);
  const [leaveOut, setLeaveOut] = useState(false);
  const [targets, setTargets] = useState(() => [place.target.kind === 'each' ? 'all' : printTarget(place.target)]);
  const clients = rule.clients.data ?? [];
  const { busy, error, start, forget } = useStart();
  const { app, ruleId, confId } = place;
  const setAside = read.kind === 'inputs' ? read.inputs.setAside : noneSetAside;
  const field = useRef<HTMLTextAreaElement>(null);
  const show = (line: number) => selectLine(field.current, line);
  const take = (next: Source) => {
    last.source = next;
    forget();
    setLeaveOut(false);
    setSource(next);
  };
  if (place.batch !== null)
    return (
      <BatchResults place={place} fields={fields} onOpen={onOpen}>
        <button
          type="button"
          className="button small"
          onClick={() => goTo({ batch: null, item: null }, { push: true })}
        >
          {say('inputs.new')}
        </button>
      </BatchResults>
    );
  return (
    <div className="inputs-panel">
      <InputsSource source={source} onSource={take} field={field} />
      <div className="inputs-read">
        {read.kind === 'inputs' ? (
          <>
            <div className="inputs-start">
              <TargetsField targets={targets} clients={clients} onTargets={setTargets} />
              {setAside.cases > 0 && (
                <SetAsideRows setAside={setAside} leaveOut={leaveOut} onLeaveOut={setLeaveOut} onLine={show} />
              )}
              {(setAside.cases === 0 || leaveOut) && (
                <StartBatch
                  label={say('inputs.run', { n: read.inputs.count })}
                  cases={read.inputs.count}
                  inputCharacters={source.text.length}
                  targets={targets}
                  clients={clients}
                  occurrences={rule.occurrences}
                  busy={busy}
                  error={error}
                  onStart={({ dryRun }) =>
                    void start((key) =>
                      runInputs(
                        { app: app ?? '', ruleId, confId, targets, dryRun, timeZone, inputs: read.inputs },
                        key,
                      ),
                    )
                  }
                />
              )}
            </div>
            <InputsPreview inputs={read.inputs} timeZone={timeZone} />
          </>
        ) : read.kind === 'mistakes' ? (
          <Mistakes refusals={read.refusals} onLine={show} />
        ) : (
          <p
            className={read.kind === 'empty' && source.unreadable === undefined ? 'empty-line' : 'notice bad'}
            role="status"
          >
            {source.unreadable !== undefined ? notUtf8(source, say) : problemWords(read, say)}
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
    onSource(read?.kind === 'text' ? { text: read.text, name } : { text: '', name, unreadable: read?.place ?? null });
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
      <div className="inputs-source-head">
        <label htmlFor="inputs-text">{say('inputs.label')}</label>
        <label className="button small file">
          {say('inputs.file')}
          <input
            type="file"
            accept=".csv,.tsv,.txt,.json,text/csv,application/json"
            onChange={({ target }) => {
              void takeFile(target.files?.[0]);
              target.value = '';
            }}
          />
        </label>
        {(source.text !== '' || source.unreadable !== undefined) && (
          <button type="button" className="quiet" onClick={() => onSource({ text: '', name: null })}>
            {say('inputs.clear')}
          </button>
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

function notUtf8({ name, unreadable }: Source, say: Say): string {
  return unreadable
    ? say('inputs.notUtf8At', { name: name ?? '', ...unreadable })
    : say('inputs.notUtf8', { name: name ?? '' });
}

function problemWords(read: Exclude<ReadInputs, { kind: 'inputs' | 'mistakes' }>, say: Say): string {
  switch (read.kind) {
    case 'empty':
      return say('inputs.empty');
    case 'not-json':
      return say('inputs.notJson', { line: read.line, message: jsonWords(read.message, say) });
    case 'no-list':
      return say('inputs.noList');
  }
}

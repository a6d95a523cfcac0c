import { useEffect, useId } from 'react';
import { removeAt, setAt } from '../../json/edit-json.ts';
import {
  convert,
  kindOf,
  kindOfType,
  readTyped,
  typedText,
  type ValueKind,
  valueKinds,
} from '../../json/form-value.ts';
import type { FormRow } from '../../run/form.ts';
import { keepKind, useKinds } from '../../state/drafts.ts';
import { useText } from '../../text/use-text.tsx';
import { IconButton } from '../../ui/icon.tsx';
import { Select } from '../../ui/select.tsx';
import type { Input } from './use-input.ts';

/** `keysKnown`: a client has told which keys the rule reads. `focused`: the row was added a moment ago, and its value is typed next. */
type Props = { row: FormRow; input: Input; keysKnown: boolean; focused: boolean };

/** One key: its value as typed, the kind of value it is, and whether it is sent at all. */
export function InputRow({ row, input, keysKnown, focused }: Props) {
  const { say } = useText();
  const id = useId();
  const kind = useKind(row, input.text);
  const name = row.path.join('.');
  const bad = input.bad.find(({ key }) => key === name) ?? null;
  const typed = bad?.typed ?? (row.value ? (typedText(kind, row.value, input.text) ?? '') : '');

  const put = (raw: string) => {
    if (bad) input.forgetBad(name);
    input.set(setAt(input.text, row.path, raw));
  };
  const omit = () => {
    if (bad) input.forgetBad(name);
    input.set(removeAt(input.text, row.path));
  };
  const type = (text: string) => {
    const read = readTyped(kind, text);
    if (read.kind === 'raw') put(read.raw);
    else if (read.kind === 'empty') omit();
    else input.noteBad({ key: name, typed: text, problem: read.problem });
  };
  const changeKind = (next: ValueKind) => {
    keepKind(name, next);
    if (next === 'null') return put('null');
    if (!row.value || row.value.kind === 'null') return put(emptyOf[next]);
    const converted = convert(row.value, input.text, next);
    put(converted.kind === 'raw' ? converted.raw : emptyOf[next]);
  };

  useEffect(() => {
    if (focused) document.getElementById(id)?.focus();
  }, [focused, id]);

  if (row.inTheWay !== null) {
    return (
      <div className="row">
        <RowName row={row} id={id} known={keysKnown} />
        <p className="notice warn">{say('input.inWay', { parent: row.inTheWay, key: name })}</p>
      </div>
    );
  }
  return (
    <div className={row.value || bad ? 'row' : 'row omitted'}>
      <RowName row={row} id={id} known={keysKnown} />
      <ValueField id={id} kind={kind} typed={typed} sent={row.value !== null} bad={bad !== null} onType={type} />
      <div className="row-tools">
        <Select
          aria-label={say('input.kind', { key: name })}
          value={kind}
          options={valueKinds.map((each) => [each, say(`input.kind.${each}`)])}
          onChoose={changeKind}
        />
        {row.value || bad ? (
          <IconButton icon="close" label={say('input.omit', { key: name })} onPress={omit} />
        ) : (
          <IconButton
            icon="plus"
            label={say('input.send', { key: name })}
            onPress={() => put(kind === 'null' ? 'null' : emptyOf[kind])}
          />
        )}
      </div>
      {bad && (
        <small className="bad" id={`${id}-bad`}>
          {say(`input.problem.${bad.problem}`)}
        </small>
      )}
    </div>
  );
}

/** The kind a row shows: the value decides; while there is none, what was last used for the key, else what the rule declares. */
function useKind({ path, value, valueType }: FormRow, text: string): ValueKind {
  const kinds = useKinds();
  const last = kinds[path.join('.')];
  if (!value) return last ?? (valueType === null ? 'auto' : kindOfType(valueType));
  const wanted = last ?? (valueType === null ? undefined : kindOfType(valueType));
  if (wanted === undefined) return kindOf(value);
  return wanted === 'auto' || typedText(wanted, value, text) !== undefined ? wanted : kindOf(value);
}

const emptyOf: Record<ValueKind, string> = {
  auto: '""',
  text: '""',
  int64: '0',
  decimal: '0',
  'yes-no': 'true',
  null: 'null',
  json: '{}',
};

function RowName({ row, id, known }: { row: FormRow; id: string; known: boolean }) {
  const { say } = useText();
  const [first, ...others] = row.readers;
  const readBy = first ? say('input.readBy', { id: first.id, name: first.name }) : known ? say('input.notRead') : '';
  const more = others.length > 0 ? ` ${say('input.readBy.more', { n: others.length })}` : '';
  return (
    <div className="row-name">
      <label htmlFor={id}>{row.path.join('.')}</label>
      <small className="cut" title={readBy + more}>
        {readBy + more}
      </small>
    </div>
  );
}

type FieldProps = {
  id: string;
  kind: ValueKind;
  typed: string;
  sent: boolean;
  bad: boolean;
  onType: (text: string) => void;
};

function ValueField({ id, kind, typed, sent, bad, onType }: FieldProps) {
  const { say } = useText();
  const field = {
    ...{ id, className: 'value', value: typed, placeholder: say('input.omitted'), spellCheck: false },
    onChange: ({ target }: { target: { value: string } }) => onType(target.value),
    ...(bad && { 'aria-invalid': true, 'aria-describedby': `${id}-bad` }),
  };
  if (kind === 'yes-no') {
    return (
      <select {...field}>
        <option value="">{say('input.omitted')}</option>
        <option value="true">{say('input.yes')}</option>
        <option value="false">{say('input.no')}</option>
      </select>
    );
  }
  if (kind === 'null') return <input {...field} value={sent ? 'null' : ''} readOnly />;
  if (kind === 'json' || typed.includes('\n'))
    return <textarea {...field} rows={Math.min(8, Math.max(1, typed.split('\n').length))} />;
  return (
    <input
      {...field}
      className={kind === 'text' ? 'value' : 'value mono'}
      inputMode={kind === 'int64' ? 'numeric' : kind === 'decimal' ? 'decimal' : 'text'}
      autoComplete="off"
      placeholder={say(sent ? 'input.emptyText' : 'input.omitted')}
    />
  );
}

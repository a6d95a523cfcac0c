import { useState } from 'react';
import { setAt } from '../../json/edit-json.ts';
import { type FormRow, formRows } from '../../run/form-rows.ts';
import { keepKind } from '../../state/drafts.ts';
import { jsonWords } from '../../text/service-words.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Loading } from '../frame/loading.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { InputRow } from './input-row.tsx';
import type { Input } from './use-input.ts';

/** A longer form can be filtered by key and by the nodes that read it. */
const MANY_ROWS = 20;
const noSchema = { fields: [], fallback: false };

/** One row for each key the rule reads, and for what else the input has. */
export function InputForm({ input, rule }: { input: Input; rule: RuleContext }) {
  const { say } = useText();
  const { read, text } = input;
  const [added, setAdded] = useState<string | null>(null);
  const [filter, setFilter] = useState('');
  if (read.kind === 'bad') {
    const { line, column } = read;
    const message = jsonWords(read.message, say);
    return <p className="notice bad">{say('input.invalid.form', { line, column, message })}</p>;
  }
  if (read.root.kind !== 'object') return <p className="notice bad">{say('input.notObject')}</p>;
  if (rule.schema.isPending && rule.selection) return <Loading text="input.schema.loading" />;
  const { rows, dynamic } = formRows(read.root, rule.schema.data ?? noSchema, rule.tree.data ?? null);
  const taken = new Set(read.root.members.map(({ key }) => key));
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = ({ path, readers }: FormRow) => {
    const text = [path.join('.'), ...readers.map(({ id, name }) => `${name} #${id}`)].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const shown = rows.length > MANY_ROWS ? rows.filter(isShown) : rows;
  return (
    <div className="input-form">
      {rows.length > MANY_ROWS && (
        <div className="form-filter">
          <input
            type="search"
            aria-label={say('input.filter')}
            placeholder={say('input.filter')}
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
          />
          <small role="status">{say('input.filtered', { shown: shown.length, n: rows.length })}</small>
        </div>
      )}
      {shown.map((row) => (
        <InputRow
          key={row.path.join('\n')}
          row={row}
          input={input}
          keysKnown={(rule.schema.data?.fields.length ?? 0) > 0}
          focused={row.path.length === 1 && row.key === added}
        />
      ))}
      {dynamic.map((key) => (
        <p className="notice" key={key}>
          <code>{key}</code> {say('input.dynamic', { ref: /\$\{(.*?)\}/.exec(key)?.[1] ?? '' })}
        </p>
      ))}
      <AddKey
        taken={taken}
        onAdd={(key) => {
          keepKind(key, 'text');
          setAdded(key);
          input.set(setAt(text, [key], '""'));
        }}
      />
    </div>
  );
}

function AddKey({ taken, onAdd }: { taken: ReadonlySet<string>; onAdd: (key: string) => void }) {
  const { say } = useText();
  const [key, setKey] = useState<string | null>(null);
  if (key === null) {
    return (
      <button type="button" className="quiet add-key" onClick={() => setKey('')}>
        <Icon name="plus" size={14} />
        {say('input.add')}
      </button>
    );
  }
  const exists = taken.has(key);
  return (
    <form
      className="add-key-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (key === '' || exists) return;
        onAdd(key);
        setKey(null);
      }}
    >
      <input
        // biome-ignore lint/a11y/noAutofocus: the button that was pressed became this field
        autoFocus
        aria-label={say('input.add.key')}
        placeholder={say('input.add.key')}
        aria-invalid={exists}
        value={key}
        onChange={({ target }) => setKey(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          setKey(null);
        }}
      />
      <button type="submit" className="button" disabled={key === '' || exists}>
        {say('input.add.button')}
      </button>
      {exists && <small className="bad">{say('input.add.exists', { key })}</small>}
    </form>
  );
}

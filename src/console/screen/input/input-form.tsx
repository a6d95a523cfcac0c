import { useState } from 'react';
import { prettyJson } from '../../../shared/json-tree/print-json.ts';
import type { Schema } from '../../api/browse.ts';
import { setAt } from '../../json/edit-json.ts';
import { type FormRow, formRows } from '../../run/form.ts';
import { keepKind } from '../../state/drafts.ts';
import { failureOfText } from '../../text/service-words.ts';
import { useText } from '../../text/use-text.tsx';
import { Loading } from '../../ui/announce.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/later.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { InputRow } from './input-row.tsx';
import type { Input } from './use-input.ts';

/** A longer form can be filtered by key and by the nodes that read it. */
const MANY_ROWS = 20;
const noSchema: Schema = { fields: [], fallback: false };

/** One row for each key the rule reads, and for what else the input has. */
function InputForm({ input, rule }: { input: Input; rule: RuleContext }) {
  const { say } = useText();
  const { read, text } = input;
  const [added, setAdded] = useState<string | null>(null);
  const [filter, setFilter] = useState('');
  if (read.kind === 'bad') {
    const { line, column, fault } = read;
    return <p className="notice bad">{say('input.invalid.form', { line, column, message: failureOfText(fault) })}</p>;
  }
  if (read.root.kind !== 'object') return <p className="notice bad">{say('input.notObject')}</p>;
  if (rule.schema.isPending && rule.selection) return <Loading text="input.schema.loading" />;
  const { rows, dynamic } = formRows(read.root, rule.schema.data ?? noSchema, rule.tree.data ?? null);
  const { incomplete } = rule.schema.data ?? noSchema;
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
      {incomplete && (
        <p className="notice">{say('input.incomplete', { nodes: incomplete.map((id) => `#${id}`).join(', ') })}</p>
      )}
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
      <Button className="quiet add-key" onPress={() => setKey('')}>
        <Icon name="plus" size={14} />
        {say('input.add')}
      </Button>
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
      <Button label={say('input.add.button')} disabled={key === '' || exists} />
      {exists && <small className="bad">{say('input.add.exists', { key })}</small>}
    </form>
  );
}

const JsonEditor = later(() => import('./json-editor.tsx').then(({ JsonEditor }) => JsonEditor), 'loading.editor');

type Props = { input: Input; rule: RuleContext };

/** The input: one document, as a form or as JSON. */
export function InputPanel({ input, rule }: Props) {
  const { say } = useText();
  const [view, setView] = useState<'form' | 'json'>('form');
  const { read } = input;
  return (
    <section className={`input-panel ${view}`} aria-label={say('nav.input')}>
      <Tabs
        label={say('nav.input')}
        tabs={[
          { name: 'form', title: say('input.form') },
          { name: 'json', title: say('input.json') },
        ]}
        chosen={view}
        onChoose={setView}
        startsWithField
        aside={
          <div className="tab-aside">
            {view === 'json' && (
              <Button
                label={say('input.format')}
                className="quiet"
                disabled={read.kind === 'bad'}
                onPress={() => read.kind === 'ok' && input.set(prettyJson(read.root))}
              />
            )}
            <CopyButton label={say('input.copy')} done={say('json.copied')} text={() => input.text} quiet />
          </div>
        }
      >
        <SchemaNotices rule={rule} />
        {view === 'form' ? (
          <InputForm input={input} rule={rule} />
        ) : (
          <JsonEditor label={say('input.json.label')} text={input.text} onChange={input.set} />
        )}
      </Tabs>
    </section>
  );
}

function SchemaNotices({ rule }: Pick<Props, 'rule'>) {
  const { say, failed } = useText();
  const { schema, selection } = rule;
  const wanted = selection?.lane ?? selection?.address ?? '';
  return (
    <>
      {schema.data?.fallback && <p className="notice warn">{say('input.schema.fallback', { target: wanted })}</p>}
      {schema.data?.fields.length === 0 && <p className="notice">{say('input.schema.empty')}</p>}
      {schema.error && <p className="notice warn">{say('input.schema.failed', { error: failed(schema.error) })}</p>}
    </>
  );
}

import { lazy, Suspense, useState } from 'react';
import { prettyJson } from '../../../shared/json-tree/print-json.ts';
import { failureOf } from '../../api/request.ts';
import { useText } from '../../text/use-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Loading } from '../frame/loading.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { InputForm } from './input-form.tsx';
import type { Input } from './use-input.ts';

const JsonEditor = lazy(() => import('./json-editor.tsx').then(({ JsonEditor }) => ({ default: JsonEditor })));

type Props = { input: Input; rule: RuleContext };

/** The input: one document, as a form or as JSON. */
export function InputPanel({ input, rule }: Props) {
  const { say } = useText();
  const [view, setView] = useState<'form' | 'json'>('form');
  const { read } = input;
  return (
    <section className={`input-panel ${view}`} aria-label={say('input.label')}>
      <Tabs
        label={say('input.label')}
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
              <button
                type="button"
                className="quiet"
                disabled={read.kind === 'bad'}
                onClick={() => read.kind === 'ok' && input.set(prettyJson(read.root))}
              >
                {say('input.format')}
              </button>
            )}
            <CopyButton label={say('input.copy')} done={say('json.copied')} text={() => input.text} quiet />
          </div>
        }
      >
        <SchemaNotices rule={rule} />
        {view === 'form' ? (
          <InputForm input={input} rule={rule} />
        ) : (
          <Suspense fallback={<Loading text="loading.editor" />}>
            <JsonEditor label={say('input.json.label')} text={input.text} onChange={input.set} />
          </Suspense>
        )}
      </Tabs>
    </section>
  );
}

function SchemaNotices({ rule }: Pick<Props, 'rule'>) {
  const { say } = useText();
  const { schema, selection } = rule;
  const wanted = selection?.lane ?? selection?.address ?? '';
  return (
    <>
      {schema.data?.fallback && <p className="notice warn">{say('input.schema.fallback', { target: wanted })}</p>}
      {schema.data?.fields.length === 0 && <p className="notice">{say('input.schema.empty')}</p>}
      {schema.error && <p className="notice warn">{say('input.schema.failed', { error: failureOf(schema.error) })}</p>}
    </>
  );
}

import { type FormEvent, useMemo, useState } from 'react';
import { compactText } from '../../../shared/json-tree/whole-text.ts';
import { shortened } from '../../../shared/reasoning/words/fact-words.ts';
import { type CasesOf, Changed, getCases, type SavedCase } from '../../api/cases.ts';
import { caseText, expectedParts, type Part, partId, partsOfRun } from '../../cases/proposal.ts';
import { casesOf, changedNames, useChangeCases, useSavedCases } from '../../cases/saved-cases.ts';
import { inputInShort } from '../../run/input-words.ts';
import type { Reading } from '../../run/reading.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { useAnnounce } from '../../ui/announce.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';

type Props = {
  reading: Reading;
  /** The case that is brought up to date; null for a new one. */
  saved: SavedCase | null;
  onDone: () => void;
};
/** `changed`: somebody else saved meanwhile; `names` are the cases they changed. */
type Problem = { kind: 'changed'; etag: string | null; names: string[] } | { kind: 'failed'; error: unknown };

const MAX_NAME = 60;

/** Keeps a run as a case: its input, and what is expected of it from now on. Each thing the run came to has a tick. */
export function SaveCase({ reading, saved, onDone }: Props) {
  const { say, moment } = useText();
  const announce = useAnnounce();
  const changeCases = useChangeCases();
  const { record, input, masked } = reading.execution;
  const of = casesOf({ ...record, app: String(record.app) });
  const known = useSavedCases(of);
  const parts = useMemo(() => partsOfRun(reading), [reading]);
  const [ticked, setTicked] = useState<ReadonlySet<string>>(
    () => new Set((saved ? expectedParts(parts, saved) : parts).map(partId)),
  );
  const [withTime, setWithTime] = useState(saved ? saved.ts !== null : true);
  const [name, setName] = useState(saved?.name ?? nameFor(reading, say));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const twin = saved === null ? (known.data?.cases.find((one) => one.name === name.trim()) ?? null) : null;

  const save = async (etag: string | null) => {
    if (of === null) return;
    setBusy(true);
    setProblem(null);
    const chosen = parts.filter((part) => ticked.has(partId(part)));
    const ts = withTime ? record.ts : null;
    const written = { name: name.trim(), input: compactText(input ?? '{}'), ts, parts: chosen, saved: saved ?? twin };
    try {
      await changeCases(of, { etag, upsert: caseText(written) });
      announce(say('save.done', { name: name.trim() }));
      onDone();
    } catch (error) {
      setProblem(await problemOf(error, { of, before: known.data?.cases ?? [] }));
    }
    setBusy(false);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!busy && known.data && name.trim() !== '') void save(known.data.etag);
  };
  const tick = (part: Part, on: boolean) => {
    const next = new Set(ticked);
    if (on) next.add(partId(part));
    else next.delete(partId(part));
    setTicked(next);
  };

  if (of === null) return <p className="notice warn">{say('save.wholeRule')}</p>;
  return (
    <form className="save-case" aria-label={say('save.title')} onSubmit={submit}>
      <label className="save-name line">
        {say('save.name')}
        <input
          // biome-ignore lint/a11y/noAutofocus: the form was opened to be filled in, and begins with its name
          autoFocus
          value={name}
          readOnly={saved !== null}
          onChange={({ target }) => setName(target.value)}
          onFocus={({ target }) => target.select()}
        />
      </label>
      {twin && <p className="notice warn">{say('save.twin', { name: twin.name })}</p>}
      <fieldset className="wrap">
        <legend className="muted">{say('save.expect')}</legend>
        {parts.length === 0 && <p className="muted">{say('save.nothing')}</p>}
        {parts.map((part) => (
          <Check
            key={partId(part)}
            label={<PartWords part={part} />}
            checked={ticked.has(partId(part))}
            onCheck={(on) => tick(part, on)}
          />
        ))}
        {record.ts !== null && (
          <Check label={say('save.asOf', { time: moment(record.ts) })} checked={withTime} onCheck={setWithTime} />
        )}
      </fieldset>
      {masked.length > 0 && <p className="notice warn">{say('save.masked', { paths: masked.join(', ') })}</p>}
      {problem && <SaveProblem problem={problem} onAgain={(etag) => void save(etag)} />}
      <div className="line wrap">
        <Button
          label={say(saved ? 'save.update' : 'save.button')}
          className="button primary"
          blocked={busy || name.trim() === '' || !known.data}
        />
        <Button label={say('save.cancel')} className="quiet" onPress={onDone} />
        <small>{say('save.kept')}</small>
      </div>
    </form>
  );
}

function PartWords({ part }: { part: Part }) {
  const { say } = useText();
  switch (part.kind) {
    case 'outcome':
      return <span>{say('save.part.outcome', { outcome: say(`outcome.${part.value}`) })}</span>;
    case 'error':
      return <span>{say('save.part.error', { text: shortened(part.value) })}</span>;
    case 'absent':
      return <span>{say('save.part.absent', { key: part.key })}</span>;
    case 'data':
      return (
        <code title={part.value}>
          {part.key} = {shortened(part.value)}
        </code>
      );
  }
}

function SaveProblem({ problem, onAgain }: { problem: Problem; onAgain: (etag: string | null) => void }) {
  const { say, failed } = useText();
  if (problem.kind === 'failed')
    return (
      <p className="notice bad" role="alert">
        {failed(problem.error)}
      </p>
    );
  const names = problem.names.map((name) => say('run.real.quoted', { name })).join(', ');
  return (
    <div className="notice warn" role="alert">
      <span>{say('save.changed', { names })}</span>
      <Button label={say('save.again')} onPress={() => onAgain(problem.etag)} />
    </div>
  );
}

async function problemOf(error: unknown, { of, before }: { of: CasesOf; before: SavedCase[] }): Promise<Problem> {
  const failed = (error: unknown): Problem => ({ kind: 'failed', error });
  if (!(error instanceof Changed)) return failed(error);
  return getCases(of).then(
    (now) => ({ kind: 'changed', etag: now.etag, names: changedNames(before, now.cases) }),
    failed, // the form stays, and can be sent again
  );
}

/** "cost 99, uid 1: FALSE": enough to know it by, until somebody writes a better name. */
function nameFor({ execution, decision }: Reading, say: Say): string {
  const short = inputInShort(execution.input, MAX_NAME) ?? '';
  const outcome = decision === null ? '' : say(`outcome.${decision}`);
  return [short, outcome].filter((text) => text !== '').join(': ');
}

import type { Json } from '../../shared/json-tree/read-json.ts';
import type { SmallestChange } from '../../shared/reasoning/what-if/smallest-change.ts';
import { type Change, diffJson } from '../json/diff-json.ts';
import { setAt } from '../json/edit-json.ts';

/** A run, or the run that the form would make. `input` null: it is not known, or it is no JSON. */
type Asked = { input: Json | null; ts: string | null; target: string };

/** One way in which the form is not what the run on the screen was. */
export type FormChange =
  | { kind: 'value'; change: Change }
  | { kind: 'unreadable' }
  | { kind: 'as-of'; before: string | null; after: string | null }
  | { kind: 'target'; before: string; after: string };

/** The changes of the form since a run; empty as long as the run on the screen is the run of the form. */
export function changesSince(run: Asked, form: Asked): FormChange[] {
  const changes: FormChange[] = [];
  if (form.input === null) changes.push({ kind: 'unreadable' });
  else if (run.input !== null) {
    for (const change of diffJson(run.input, form.input).changes)
      if (change.kind !== 'same') changes.push({ kind: 'value', change });
  }
  if (run.ts !== form.ts) changes.push({ kind: 'as-of', before: run.ts, after: form.ts });
  if (!sameTarget(run.target, form.target)) changes.push({ kind: 'target', before: run.target, after: form.target });
  return changes;
}

/** A run of "all, compare" went to one client: it is one of the runs that the form would begin. */
function sameTarget(run: string, form: string): boolean {
  return run === form || (form === 'each' && run.startsWith('address:'));
}

/** An input with a change made. */
export function withChange(input: string, { changes }: SmallestChange): string {
  return changes.reduce((text, { path, after }) => setAt(text, path, after), input);
}

import { DATA_FIELD } from '../contract/data-field.ts';
import { memberOf, textOf } from '../json-tree/members.ts';
import { type Json, readJson } from '../json-tree/read-json.ts';

/** The members of a result, read from its text; a member that is absent or of another kind is null. */
export type Result = {
  text: string;
  root: Json;
  success: boolean;
  data: Json | null;
  /** The flat trace; null when the client wrote none or something that is no text. */
  process: string | null;
  /** The structured trace of clients that write one. */
  steps: Json | null;
  error: string | null;
  /** The id that the client writes into its own log; null when it wrote none. */
  trace: string | null;
};

/** Reads a result. Null when the text is no JSON object, which the service does not let through. */
export function readResult(text: string): Result | null {
  const read = readJson(text);
  if (read.kind === 'bad' || read.root.kind !== 'object') return null;
  const { root } = read;
  const success = memberOf(root, 'success');
  const error = memberOf(root, 'error');
  const steps = memberOf(root, 'steps');
  return {
    text,
    root,
    success: success?.kind === 'boolean' && success.value,
    data: memberOf(root, DATA_FIELD) ?? null,
    process: textOf(memberOf(root, 'process')),
    steps: steps?.kind === 'array' ? steps : null,
    error: textOf(error) ?? (error && error.kind !== 'null' ? text.slice(error.start, error.end) : null),
    trace: textOf(memberOf(root, 'trace')),
  };
}

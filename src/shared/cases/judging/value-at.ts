import type { ExactValue } from '../../contract/json/raw-number.ts';
import { field } from '../../contract/json/read-exact.ts';
import type { Step } from '../path.ts';

/** The value a path leads to; undefined when nothing is there. `null` is something. */
export function valueAt(value: ExactValue, path: readonly Step[]): ExactValue | undefined {
  let at: ExactValue | undefined = value;
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at[step] : undefined;
    else at = field(at, step);
    if (at === undefined) return undefined;
  }
  return at;
}

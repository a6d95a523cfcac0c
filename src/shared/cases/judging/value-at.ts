import { type ExactValue, isExactObject } from '../../contract/json/raw-number.ts';
import type { Step } from '../path.ts';

/** The value a path leads to; undefined when nothing is there. `null` is something. */
export function valueAt(value: ExactValue, path: readonly Step[]): ExactValue | undefined {
  let at: ExactValue | undefined = value;
  for (const step of path) {
    if (typeof step === 'number') at = Array.isArray(at) ? at[step] : undefined;
    else at = isExactObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
    if (at === undefined) return undefined;
  }
  return at;
}

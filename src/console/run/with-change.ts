import type { SmallestChange } from '../../shared/reasoning/what-if/smallest-change.ts';
import { setAt } from '../json/edit-json.ts';

/** An input with a change made. */
export function withChange(input: string, { changes }: SmallestChange): string {
  return changes.reduce((text, { path, after }) => setAt(text, path, after), input);
}

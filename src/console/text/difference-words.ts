import type { TextKey } from './en.ts';
import type { Say } from './use-text.tsx';

/** How the service says that a run was not as expected, by the key of the same words in the dictionaries. */
export const differenceKeys: ReadonlyMap<string, TextKey> = new Map([
  ['differs', 'difference.differs'],
  ['is missing', 'difference.missing'],
  ['was not expected', 'difference.unexpected'],
  ['must not be there', 'difference.there'],
  ['differs by more than is allowed', 'difference.far'],
  ['is not a number', 'difference.noNumber'],
  ['took longer', 'difference.longer'],
  ['cannot be told', 'difference.unknown'],
  ['changed', 'difference.changed'],
  ['does not contain the expected text', 'difference.otherError'],
  ['did not come: the rule ran without one', 'difference.noError'],
]);

/** How what came differs from what was expected; words that this page does not know stay as they are. */
export function differenceWords(message: string, say: Say): string {
  const key = differenceKeys.get(message);
  return key === undefined ? message : say(key);
}

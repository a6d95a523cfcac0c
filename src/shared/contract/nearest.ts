import { type Problem, problemAt } from '../reasons/problems.ts';
import { cut } from './json/visible-text.ts';

/** A longer name is no misspelling of a known one, and comparing long names takes long. */
const MAX_LENGTH = 100;

/** The known name that is most like a misspelt one; undefined when none is near. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  let best: string | undefined;
  let least = Math.floor((name.length + 1) / 3) + 1; // of a short name every letter counts
  for (const candidate of known) {
    const changes = changesBetween(name.toLowerCase(), candidate.toLowerCase());
    if (changes < least) [best, least] = [candidate, changes];
  }
  return best;
}

const MAX_SHOWN = 60;
/** A caller chooses how many names it sends, and each costs a comparison with all that are known. */
const MAX_NAMED = 100;

/** The names that are not among the known ones, and for each which one to use. `others`: names of other programs, without letter case and separators. */
export function unknownNames(
  names: readonly string[],
  known: readonly string[],
  others?: ReadonlyMap<string, string>,
): Problem[] {
  const unknown = [...new Set(names)].filter((name) => !known.includes(name)).slice(0, MAX_NAMED);
  return unknown.map((name) => notKnown(name, known, others));
}

function notKnown(name: string, known: readonly string[], others?: ReadonlyMap<string, string>): Problem {
  const field = cut(name, MAX_SHOWN);
  const plain = name.length > MAX_LENGTH ? '' : name.toLowerCase().replace(/[\s_-]/g, '');
  const meant = others?.get(plain) ?? nearest(name, known) ?? known.find((each) => isBeginning(plain, each));
  if (meant !== undefined) return problemAt(field, 'unrecognized-key', { meant });
  return known.length === 0
    ? problemAt(field, 'no-keys', {})
    : problemAt(field, 'unrecognized-key', { known: known.join(', ') });
}

const isBeginning = (plain: string, name: string) => plain.length >= 3 && name.toLowerCase().startsWith(plain);

/** `; did you mean …?`, or nothing when no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const found = nearest(name, known);
  return found === undefined ? '' : `; did you mean ${found}?`;
}

/** Whether one letter added, left out, changed or swapped with its neighbour turns one text into the other. */
export const isOneSlipAway = (a: string, b: string): boolean =>
  Math.abs(a.length - b.length) <= 1 && changesBetween(a, b) <= 1;

/** How many letters have to be added, taken away, replaced or swapped with their neighbour. */
function changesBetween(from: string, to: string): number {
  let [twoBefore, before]: number[][] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      const ways = [at(before, column) + 1, at(current, column - 1) + 1, at(before, column - 1) + same];
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) ways.push(at(twoBefore, column - 2) + 1);
      current.push(Math.min(...ways));
    }
    [twoBefore, before] = [before, current];
  }
  return at(before, to.length);
}

const at = (row: readonly number[] | undefined, column: number): number => row?.[column] ?? Number.POSITIVE_INFINITY;

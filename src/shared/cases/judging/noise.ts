import { type ExactValue, isExactObject } from '../../contract/json/raw-number.ts';
import { type Given, readTexts } from '../document/read-members.ts';
import { EVERY, type Pattern, parsePattern } from '../path.ts';

/** Reads the member `ignore`: the paths of values that are other at every run, such as `coupon.id` and `items[*].at`. */
export function readIgnored(given: Given | undefined): string[] {
  const texts = readTexts(given);
  for (const [index, text] of texts.entries())
    if (!parsePattern(text)) given?.at.in(index).refuse('invalid-format', { expected: 'path', example: 'items[*].id' });
  return texts;
}

/** A value without what is at these paths. In a list `null` takes the place of an element, so that the others keep theirs. */
export function withoutNoise(value: ExactValue, ignored: readonly string[]): ExactValue {
  const patterns = ignored.flatMap((text) => {
    const pattern = parsePattern(text);
    return pattern ? [pattern] : [];
  });
  return without(value, patterns);
}

function without(value: ExactValue, patterns: readonly Pattern[]): ExactValue {
  if (patterns.length === 0) return value;
  if (Array.isArray(value))
    return value.map((element, index) => {
      const inner = below(patterns, (step) => step === EVERY || step === index);
      return inner === 'all' ? null : without(element, inner);
    });
  if (!isExactObject(value)) return value;
  const kept = Object.entries(value).flatMap(([key, member]): [string, ExactValue][] => {
    const inner = below(patterns, (step) => step === key);
    return inner === 'all' ? [] : [[key, without(member, inner)]];
  });
  return Object.fromEntries(kept);
}

/** The rest of the patterns that go on at one step; `all` if one ends there. */
function below(
  patterns: readonly Pattern[],
  goesOn: (step: Pattern[number] | undefined) => boolean,
): Pattern[] | 'all' {
  const rest = patterns.filter(([step]) => goesOn(step)).map((pattern) => pattern.slice(1));
  return rest.some(({ length }) => length === 0) ? 'all' : rest;
}

import { compactJson } from '../../json-tree/print-json.ts';
import type { Json } from '../../json-tree/read-json.ts';
import type { Condition } from '../comparison.ts';

/** A value that a key could have, as JSON text. `other`: it stands for any text but those that conditions name. */
export type Candidate = { text: string; other: boolean };

const MAX_OF_A_LIST = 20;
const PLAIN = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/;

/**
 * The values of one key that its conditions tell apart: each value that a condition names, of numbers the next ones on both sides, and one
 * between two of them that no whole step is between.
 * `now`: what the key has; its decimal places are kept, so that money stays money.
 */
export function candidatesOf(conditions: readonly Condition[], now: Json | undefined): Candidate[] {
  const wholeNumbers = conditions.some((condition) => condition.wholeNumbers);
  const places = wholeNumbers || now?.kind !== 'number' ? 0 : placesOf(now.text);
  const named = conditions.flatMap(({ setting }) =>
    setting.kind === 'array' ? setting.items.slice(0, MAX_OF_A_LIST) : [setting],
  );
  const found = new Map<string, Candidate>();
  const add = (text: string, other = false) => {
    if (!found.has(text)) found.set(text, { text, other });
  };
  for (const value of named) {
    switch (value.kind) {
      case 'number':
        for (const text of numbersAround(value.text, { places, wholeNumbers })) add(text);
        break;
      case 'string':
        add(compactJson(value));
        break;
      case 'boolean':
        add('true');
        add('false');
    }
  }
  const numbers = named.flatMap((value) => (value.kind === 'number' ? value.text : []));
  if (!wholeNumbers) for (const text of numbersBetween(numbers, places)) add(text);
  const texts = named.flatMap((value) => (value.kind === 'string' ? value.value : []));
  if (texts.length > 0) add(JSON.stringify(anotherText(texts)), true);
  return [...found.values()];
}

/** The number itself and its neighbours, `places` digits or as many as it has after the point. */
function numbersAround(text: string, { places, wholeNumbers }: { places: number; wholeNumbers: boolean }): string[] {
  const match = PLAIN.exec(text);
  if (!match) return wholeNumbers ? [] : [text];
  const [, sign, whole = '0', fraction = ''] = match;
  const scale = wholeNumbers ? 0 : Math.max(places, fraction.length);
  const digits = BigInt(`${whole}${fraction.padEnd(scale, '0').slice(0, scale)}`) * (sign === '-' ? -1n : 1n);
  const isCut = /[1-9]/.test(fraction.slice(scale));
  const around = [digits - 1n, digits, digits + 1n].map((value) => printScaled(value, scale));
  return isCut ? around : [text, ...around.filter((_, index) => index !== 1)];
}

/** One number in each gap that is smaller than two steps of `places` digits. */
function numbersBetween(texts: readonly string[], places: number): string[] {
  const parts = texts.flatMap((text) => {
    const [, sign, whole = '0', fraction = ''] = PLAIN.exec(text) ?? [];
    return sign === undefined ? [] : [{ sign, whole, fraction }];
  });
  const scale = Math.max(places, ...parts.map(({ fraction }) => fraction.length));
  const sorted = [
    ...new Set(parts.map(({ sign, whole, fraction }) => BigInt(`${sign}${whole}${fraction.padEnd(scale, '0')}`))),
  ].sort((a, b) => (a < b ? -1 : 1));
  return sorted.slice(1).flatMap((high, index) => {
    const low = sorted[index] ?? high;
    return high - low < 2n ? printScaled((low + high) * 5n, scale + 1) : [];
  });
}

function printScaled(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function placesOf(text: string): number {
  return PLAIN.exec(text)?.[3]?.length ?? 0;
}

function anotherText(texts: readonly string[]): string {
  let other = '?';
  while (texts.includes(other)) other += '?';
  return other;
}

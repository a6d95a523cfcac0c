import { sameNumber } from '../../shared/cases/judging/decimal.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, RawNumber } from '../../shared/contract/json/raw-number.ts';

/**
 * An answer as the values of a program: a number whose value a 64-bit float does not hold is text, with the digits as they were
 * written. JSON text of our own making; throws for anything else than an object.
 */
export function structuredOf(json: string): Record<string, unknown> {
  const value = plain(parseExact(json));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new TypeError('a tool answers with an object');
}

function plain(value: ExactValue): unknown {
  if (value instanceof RawNumber) return numberOf(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  return value;
}

function numberOf(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) && sameNumber(text, String(number)) ? number : text;
}

import { type ExactValue, integerOf, isExactObject, RawNumber } from '../../../shared/contract/json/raw-number.ts';
import { type Origins, toPlain, type Value } from './values.ts';

/**
 * One value as a type. Absent and null are undefined; a value of another type throws a `TypeError` naming the key: a
 * rule that compares the wrong thing should say so rather than be false.
 */
export function stringOf(value: ExactValue | undefined, key: string): string | undefined {
  return value == null ? undefined : typeof value === 'string' ? value : wrongType(key, value, 'a string');
}

export function booleanOf(value: ExactValue | undefined, key: string): boolean | undefined {
  return value == null ? undefined : typeof value === 'boolean' ? value : wrongType(key, value, 'true or false');
}

/** Any integer, exact. 5.0 and 5e0 are integers too. */
export function longOf(value: ExactValue | undefined, key: string): bigint | undefined {
  if (value == null) return undefined;
  const integer = value instanceof RawNumber ? integerOf(value.text) : undefined;
  return integer ?? wrongType(key, value, 'an integer');
}

/** An integer within ±(2^53 - 1); a greater one throws instead of being rounded. */
export function intOf(value: ExactValue | undefined, key: string): number | undefined {
  const integer = longOf(value, key);
  if (integer === undefined) return undefined;
  const number = Number(integer);
  if (Number.isSafeInteger(number)) return number;
  throw new RangeError(`"${key}" holds an integer beyond 2^53: read it as a long`);
}

/** The nearest double. */
export function doubleOf(value: ExactValue | undefined, key: string): number | undefined {
  if (value == null) return undefined;
  return value instanceof RawNumber ? Number(value.text) : wrongType(key, value, 'a number');
}

export function listOf(value: ExactValue | undefined, key: string, origins: Origins): Value[] | undefined {
  if (value == null) return undefined;
  const plain = Array.isArray(value) ? toPlain(value, origins) : undefined;
  return Array.isArray(plain) ? plain : wrongType(key, value, 'a list');
}

export function mapOf(
  value: ExactValue | undefined,
  key: string,
  origins: Origins,
): { [key: string]: Value } | undefined {
  if (value == null) return undefined;
  const plain = isExactObject(value) ? toPlain(value, origins) : undefined;
  const isMap = typeof plain === 'object' && plain !== null && !Array.isArray(plain);
  return isMap ? plain : wrongType(key, value, 'an object');
}

function wrongType(key: string, value: ExactValue, wanted: string): never {
  throw new TypeError(`"${key}" holds ${nameOf(value)} where ${wanted} is wanted`);
}

function nameOf(value: ExactValue): string {
  if (value instanceof RawNumber) return 'a number';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

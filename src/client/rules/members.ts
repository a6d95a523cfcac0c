import type { ExactValue } from '../../shared/contract/exact-json.ts';
import { integerOf, parseExact, RawNumber } from '../../shared/contract/exact-json.ts';
import { type ExactObject, isExactObject } from '../engine/values.ts';

const INT64_MAX = 9_223_372_036_854_775_807n;

/** The JSON object a file holds. Throws an error that says why it holds none. */
export function objectOf(text: string): ExactObject {
  const value = parseExact(text);
  if (isExactObject(value)) return value;
  throw new TypeError('is not a JSON object');
}

/** An int64, null when missing or null. Throws for anything else. */
export function integerMember(object: ExactObject, name: string): bigint | null {
  const value = object[name] ?? null;
  if (value === null) return null;
  const integer = value instanceof RawNumber ? integerOf(value.text) : undefined;
  if (integer === undefined || integer > INT64_MAX || integer < -INT64_MAX) {
    throw new TypeError(`${name} must be an integer of at most 64 bits`);
  }
  return integer;
}

/** A positive id; missing, null and 0 are all null. */
export function idMember(object: ExactObject, name: string): bigint | null {
  const id = integerMember(object, name) ?? 0n;
  if (id < 0n) throw new TypeError(`${name} must not be negative`);
  return id === 0n ? null : id;
}

/** A text, empty when missing or null. */
export function textMember(object: ExactObject, name: string): string {
  const value = object[name] ?? '';
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`);
  return value;
}

/** True or false, false when missing or null. */
export function flagMember(object: ExactObject, name: string): boolean {
  const value = object[name] ?? false;
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
  return value;
}

/** A list, empty when missing or null. */
export function listMember(object: ExactObject, name: string): ExactValue[] {
  const value = object[name] ?? [];
  if (!Array.isArray(value)) throw new TypeError(`${name} must be a list`);
  return value;
}

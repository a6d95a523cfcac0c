import { type ExactValue, integerOf, RawNumber } from '../contract/json/raw-number.ts';

/**
 * A scalar as the Java SDK's JSON reader (Jackson) takes it for a type. Null: absent, as the empty text and "null" are for
 * everything but a text. Undefined: it cannot be read as that type.
 */
export type Converted<T> = T | null | undefined;

export const INT64_MAX = 9_223_372_036_854_775_807n;

/** An int64: a fraction is cut off, a text may have a sign and space around it but no fraction. */
export function javaInteger(value: ExactValue | undefined): Converted<bigint> {
  const text = textOrNull(value);
  if (typeof text === 'string') return /^[+-]?\d+$/.test(text) ? inRange(BigInt(text.replace(/^\+/, ''))) : undefined;
  if (text === null) return null;
  return value instanceof RawNumber ? inRange(integerOf(value.text) ?? truncated(value.text)) : undefined;
}

/** The nearest double; a text must be a plain number. */
export function javaDouble(value: ExactValue | undefined): Converted<number> {
  const text = textOrNull(value);
  if (typeof text === 'string') return /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
  if (text === null) return null;
  return value instanceof RawNumber ? Number(value.text) : undefined;
}

/** True or false, "true" and "True" and "TRUE" like them, and integers, of which only 0 is false. */
export function javaBoolean(value: ExactValue | undefined): Converted<boolean> {
  if (typeof value === 'boolean') return value;
  const text = textOrNull(value);
  if (typeof text === 'string') {
    if (['true', 'True', 'TRUE'].includes(text)) return true;
    return ['false', 'False', 'FALSE'].includes(text) ? false : undefined;
  }
  if (text === null) return null;
  return value instanceof RawNumber && /^-?\d+$/.test(value.text) ? !/^-?0+$/.test(value.text) : undefined;
}

/** A text; numbers and booleans as they are written. */
export function javaText(value: ExactValue | undefined): Converted<string> {
  if (value == null) return null;
  if (value instanceof RawNumber) return value.text;
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : undefined;
}

/** The trimmed text of a text, null for what counts as absent, undefined for what is no text. */
function textOrNull(value: ExactValue | undefined): string | null | undefined {
  if (value == null) return null;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' || text === 'null' ? null : text;
}

function truncated(text: string): bigint | undefined {
  const number = Math.trunc(Number(text));
  return Number.isFinite(number) ? BigInt(number) : undefined;
}

function inRange(integer: bigint | undefined): bigint | undefined {
  return integer !== undefined && integer <= INT64_MAX && integer >= -INT64_MAX - 1n ? integer : undefined;
}

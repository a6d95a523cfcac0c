import { type ExactValue, isExactObject } from '../../shared/contract/json/raw-number.ts';
import { type Converted, javaBoolean, javaDouble, javaInteger, javaText } from '../../shared/rules/java-scalars.ts';
import { noOrigins, toPlain, type Value } from '../engine/data/values.ts';
import type { FieldType, LeafDefinition } from './leaf.ts';

/** A field that a rule can configure. `offered`: shown to whoever edits rules. */
export type Field = { field: string; name: string; desc: string; type: FieldType; offered: boolean; sample: unknown };

/** The configurable fields of a leaf: its public ones, but for those that start with `_` and those that hold functions. */
export function fieldsOf(sample: object, described?: LeafDefinition['fields']): Field[] {
  const names = Object.keys(sample).filter(
    (field) => !field.startsWith('_') && typeof Reflect.get(sample, field) !== 'function',
  );
  return names.map((field) => {
    const { name = field, desc = '', type } = described?.[field] ?? {};
    const value: unknown = Reflect.get(sample, field);
    const offered = described === undefined || Object.hasOwn(described, field);
    return { field, name, desc, type: type ?? typeOf(value), offered, sample: value };
  });
}

function typeOf(value: unknown): FieldType {
  if (Array.isArray(value)) return 'list';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'long';
    case 'number':
      return 'double';
    default:
      return value == null ? 'object' : 'map';
  }
}

/**
 * The value to set a field to: of the type its default has, converted as the Java SDK does (a missing number is 0). Throws a
 * `TypeError` for a value that cannot be read as that type.
 */
export function configuredValue({ field, type, sample }: Field, value: ExactValue): Value {
  switch (typeof sample) {
    case 'string':
      return javaText(value) ?? mismatch(field, 'text');
    case 'boolean':
      return orZero(javaBoolean(value), false) ?? mismatch(field, 'true or false');
    case 'bigint':
      return orZero(javaInteger(value), 0n) ?? mismatch(field, 'an integer of at most 64 bits');
    case 'number':
      return type === 'int' || type === 'long' ? integer(field, value) : number(field, value);
    default:
      break;
  }
  if (Array.isArray(sample) && !Array.isArray(value)) mismatch(field, 'a list');
  if (sample != null && !Array.isArray(sample) && !isExactObject(value)) mismatch(field, 'an object');
  return toPlain(value, noOrigins);
}

/** Whether a value is no value at all, such as the empty text for a number: it counts as 0 or false, which deserves a warning. */
export function countsAsNothing({ sample }: Field, value: ExactValue): boolean {
  const isScalar = ['number', 'bigint', 'boolean'].includes(typeof sample);
  return isScalar && typeof value === 'string' && ['', 'null'].includes(value.trim());
}

const orZero = <T>(converted: Converted<T>, zero: T): T | undefined => (converted === null ? zero : converted);

function number(field: string, value: ExactValue): number {
  return orZero(javaDouble(value), 0) ?? mismatch(field, 'a number');
}

function integer(field: string, value: ExactValue): number {
  const converted = orZero(javaInteger(value), 0n) ?? mismatch(field, 'an integer');
  const number = Number(converted);
  return Number.isSafeInteger(number) ? number : mismatch(field, 'an integer up to 2^53 (or a bigint as its default)');
}

function mismatch(field: string, wanted: string): never {
  throw new TypeError(`confField: ${field} must be ${wanted}`);
}

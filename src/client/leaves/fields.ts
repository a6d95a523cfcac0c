import type { ExactValue } from '../../shared/contract/exact-json.ts';
import { RawNumber } from '../../shared/contract/exact-json.ts';
import { isExactObject, plainNumber, toPlain, type Value } from '../engine/values.ts';
import type { FieldDefinition, FieldType } from './leaf.ts';

/** A field that a rule can configure. `offered`: shown to whoever edits rules. */
export type Field = { field: string; name: string; desc: string; type: FieldType; offered: boolean; sample: unknown };

/** The configurable fields of a leaf: its public ones, but for those that start with `_` and those that hold functions. */
export function fieldsOf(sample: object, described?: Readonly<Record<string, FieldDefinition>>): Field[] {
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
 * The value to set a field to: of the type its default has, a scalar written as another one where that is plain (as in
 * the Java SDK). Throws a `TypeError` for a value of another type.
 */
export function configuredValue({ field, sample }: Field, value: ExactValue): Value {
  const text = scalarText(value);
  switch (typeof sample) {
    case 'string':
      return text ?? mismatch(field, 'text');
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : mismatch(field, 'true or false');
    case 'bigint':
      return text !== undefined && /^-?\d+$/.test(text) ? BigInt(text) : mismatch(field, 'an integer');
    case 'number':
      return number(field, text);
    default:
      break;
  }
  if (Array.isArray(sample) && !Array.isArray(value)) mismatch(field, 'a list');
  if (sample != null && !Array.isArray(sample) && !isExactObject(value)) mismatch(field, 'an object');
  return toPlain(value, new WeakMap());
}

function scalarText(value: ExactValue): string | undefined {
  if (value instanceof RawNumber) return value.text;
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : undefined;
}

function number(field: string, text: string | undefined): number {
  const isNumber = text !== undefined && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text);
  const value = isNumber ? plainNumber(text) : mismatch(field, 'a number');
  return typeof value === 'number' ? value : mismatch(field, 'a number up to 2^53 (or a bigint as its default)');
}

function mismatch(field: string, wanted: string): never {
  throw new TypeError(`confField: ${field} must be ${wanted}`);
}

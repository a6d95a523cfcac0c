import type { Field } from '../../leaves/fields.ts';
import type { Thing } from '../interpreter.ts';
import { memberSafely } from '../values/outer-names.ts';
import { unknown } from '../values/things.ts';

/** The code behind a computed property of a leaf or its ancestors. It is read, not run. */
export function getterOf(sample: object, name: string): (() => unknown) | undefined {
  for (let object: object | null = sample; object; object = Object.getPrototypeOf(object)) {
    const descriptor = Object.getOwnPropertyDescriptor(object, name);
    if (descriptor) return descriptor.get;
  }
  return undefined;
}

/** A member of a configured object goes by the way to it: `config.key`. */
export function fieldMember(field: Field, name: string): Thing {
  const { sample } = field;
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample)) return unknown;
  const found = memberSafely(sample, name);
  return {
    kind: 'field',
    field: { ...field, field: `${field.field}.${name}`, sample: found.found ? found.value : null },
  };
}

/** The value of a member of a value of the process, without running anybody's code. */
export function knownMember(value: unknown, name: string): Thing {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  for (
    let object: unknown = isObject ? value : null;
    object && object !== Object.prototype;
    object = Object.getPrototypeOf(object)
  ) {
    const found = memberSafely(object, name);
    if (found.found) return { kind: 'known', value: found.value };
  }
  return unknown;
}

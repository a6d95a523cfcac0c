import { type ExactValue, isExactObject, RawNumber } from './raw-number.ts';

/** Readers for exact JSON, such as the service's answers. They take what is there and never fail: a newer service may say more, or less. */

export function field(value: ExactValue | undefined, name: string): ExactValue | undefined {
  return isExactObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** An integer as decimal text: ids and versions are int64. */
export function digits(value: ExactValue | undefined): string | null {
  return value instanceof RawNumber ? value.text : null;
}

export function flag(value: ExactValue | undefined): boolean {
  return value === true;
}

export function list(value: ExactValue | undefined): ExactValue[] {
  return Array.isArray(value) ? value : [];
}

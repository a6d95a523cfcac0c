import { parseExact } from './json/exact-json.ts';
import { type ExactValue, RawNumber, stringifyExact } from './json/raw-number.ts';

const sources = new WeakMap<object, string>();

/** Parses an answer of the service, and remembers the text of each object and list for `decoders.json`. */
export const parseAnswer = (body: string): ExactValue => parseExact(body, sources);

/** Read the values that JSON has no type for: exact integers, JSON as text. Shared by the schemas (`wire.ts`) and the page, which has no Zod. */
export const decoders = {
  integer: (value: RawNumber | number): number => (typeof value === 'number' ? value : Number(value.text)),
  int64: (value: RawNumber | string): string => (typeof value === 'string' ? value : value.text),
  json: (value: unknown): string =>
    (typeof value === 'object' && value !== null ? sources.get(value) : undefined) ?? stringifyExact(value),
  missing: (value: RawNumber | boolean | string): boolean | { setting: string } | { number: string } => {
    if (typeof value === 'boolean') return value;
    return typeof value === 'string' ? { setting: value } : { number: value.text };
  },
};
export type Decoder = keyof typeof decoders;

export const INTEGER = /^-?\d{1,19}$/;
export const isInteger = (value: unknown): value is RawNumber => value instanceof RawNumber && INTEGER.test(value.text);

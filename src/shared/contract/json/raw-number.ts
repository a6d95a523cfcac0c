/** A number as it was written. `JSON.stringify` refuses it on purpose: print it with `stringifyExact`. */
export class RawNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toJSON(): never {
    throw new TypeError(`the number ${this.text} must be printed with stringifyExact`);
  }
}

/** A JSON object or array as the text it was written in. */
export class RawJson {
  readonly kind: 'object' | 'array';
  readonly raw: string;
  constructor(kind: 'object' | 'array', raw: string) {
    this.kind = kind;
    this.raw = raw;
  }
}

/** A part of a JSON text that is printed as it is. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type ExactValue = null | boolean | string | RawNumber | ExactValue[] | ExactObject;

/** A JSON object with its numbers as they were written. */
export type ExactObject = { [key: string]: ExactValue };

export function isExactObject(value: ExactValue | undefined): value is ExactObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RawNumber);
}

/** Prints a value with raw numbers and bigints as plain JSON numbers. */
export function stringifyExact(value: unknown): string {
  if (value instanceof RawNumber || value instanceof JsonText) return value.text;
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stringifyExact(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** The integer a JSON number stands for (5, 5.0 and 5e0 alike), or undefined when it has a fraction or over 40 digits. */
export function integerOf(raw: string): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(raw);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, '');
  if (/^0+$/.test(digits)) return 0n;
  const shift = Number(exponent) - fraction.length;
  // Not by a regular expression: one that ends in `0*$` takes minutes over a number of a mebibyte.
  let significant = digits.length;
  while (digits[significant - 1] === '0') significant--;
  if (digits.length + shift < significant || digits.length + shift > 40) return undefined;
  const integer = shift >= 0 ? digits + '0'.repeat(shift) : digits.slice(0, digits.length + shift);
  return BigInt(`${sign}${integer}`);
}

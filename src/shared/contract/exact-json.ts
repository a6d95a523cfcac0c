/**
 * JSON (RFC 8259) as raw text: checked to the letter and split into members without ever turning a number into a
 * JavaScript number, so that 9007199254740993, 1e400, 0.10 and -0 leave exactly as they came.
 */

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** One member of the outermost object; `raw` is its value exactly as written. */
export type Member = { key: string; kind: JsonKind; raw: string };

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

export type ExactValue = null | boolean | string | RawNumber | ExactValue[] | { [key: string]: ExactValue };

/** What a text turned out to be. `incomplete`: a good beginning that ends too early. `wrong`: no ending can save it. */
export type Scanned =
  | { kind: 'complete'; type: JsonKind; raw: string; members: Member[]; duplicates: string[] }
  | { kind: 'incomplete'; length: number }
  | { kind: 'wrong'; at: number; path: string; message: string };

export const MAX_DEPTH = 200;
const MAX_DUPLICATES_NAMED = 20;

class Wrong extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
class EndsTooEarly extends Error {}

/** Checks one JSON text and splits its outermost object. Depth is bounded by `MAX_DEPTH`; duplicate keys are listed by path. */
export function scanJson(text: string): Scanned {
  const scanner = createScanner(text, false);
  try {
    const { type, start, end } = scanner.document();
    const { members, duplicates } = scanner;
    return { kind: 'complete', type, raw: text.slice(start, end), members, duplicates };
  } catch (error) {
    if (error instanceof EndsTooEarly) return { kind: 'incomplete', length: text.length };
    if (error instanceof Wrong) return { kind: 'wrong', at: error.at, path: scanner.path(), message: error.message };
    throw error;
  }
}

/** Parses one JSON text with its numbers kept as written. Throws a `SyntaxError` naming place and path. */
export function parseExact(text: string): ExactValue {
  const scanner = createScanner(text, true);
  try {
    return scanner.document().value;
  } catch (error) {
    if (error instanceof EndsTooEarly) throw new SyntaxError(`JSON ends too early, after ${text.length} characters`);
    if (error instanceof Wrong)
      throw new SyntaxError(`${error.message} at character ${error.at + 1}${inPath(scanner.path())}`);
    throw error;
  }
}

/** Prints a value with raw numbers and bigints as plain JSON numbers. */
export function stringifyExact(value: unknown): string {
  if (value instanceof RawNumber) return value.text;
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${stringifyExact(member)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/** Puts members back together, in order, values as they were written. */
export function joinMembers(members: Iterable<readonly [key: string, raw: string]>): string {
  const parts: string[] = [];
  for (const [key, raw] of members) parts.push(`${JSON.stringify(key)}:${raw}`);
  return `{${parts.join(',')}}`;
}

/** The same JSON in ASCII. Outside strings JSON is ASCII already, so every other character may become a \u escape. */
export function toAscii(raw: string): string {
  return raw.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
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

export type Decoded =
  | { kind: 'text'; text: string }
  | { kind: 'cut'; text: string }
  | { kind: 'wrong'; message: string };

/** UTF-8 bytes to text, never repairing anything. `cut`: valid so far, but the last character's bytes are incomplete. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return { kind: 'wrong', message: 'starts with a byte order mark; send UTF-8 without one' };
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { kind: 'text', text: decoder.decode(bytes) };
  } catch {
    try {
      return {
        kind: 'cut',
        text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true }),
      };
    } catch {
      return { kind: 'wrong', message: 'is not valid UTF-8' };
    }
  }
}

function inPath(path: string): string {
  return path === '' ? '' : ` in ${path}`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A caller chooses the keys: a path names so much of each, and so much in all. */
const KEY_NAMED = 60;
const PATH_NAMED = 200;

function pathOf(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) {
    const text = typeof step === 'number' ? `[${step}]` : cut(step, KEY_NAMED);
    path += path === '' || typeof step === 'number' ? text : `.${text}`;
    if (path.length > PATH_NAMED) return cut(path, PATH_NAMED);
  }
  return path;
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function createScanner(text: string, build: boolean) {
  const members: Member[] = [];
  const duplicates: string[] = [];
  const steps: (string | number)[] = [];
  let at = 0;

  const path = () => pathOf(steps);

  function document(): { type: JsonKind; start: number; end: number; value: ExactValue } {
    space();
    const start = at;
    const { type, value } = anyValue(0);
    const end = at;
    space();
    if (at < text.length) throw new Wrong(`unexpected ${shown()} after the end of the JSON value`, at);
    return { type, start, end, value };
  }

  function anyValue(depth: number): { type: JsonKind; value: ExactValue } {
    const char = text[at];
    switch (char) {
      case undefined:
        throw new EndsTooEarly();
      case '{':
        return { type: 'object', value: object(depth + 1) };
      case '[':
        return { type: 'array', value: array(depth + 1) };
      case '"':
        return { type: 'string', value: string() };
      case 't':
        return { type: 'boolean', value: word('true', true) };
      case 'f':
        return { type: 'boolean', value: word('false', false) };
      case 'n':
        return { type: 'null', value: word('null', null) };
      default:
        return { type: 'number', value: number() };
    }
  }

  function object(depth: number): ExactValue {
    if (depth > MAX_DEPTH) throw new Wrong(`nested deeper than ${MAX_DEPTH} levels`, at);
    const built: { [key: string]: ExactValue } = build ? Object.create(null) : {};
    const keys = new Set<string>();
    at++;
    space();
    if (text[at] === '}') {
      at++;
      return built;
    }
    for (;;) {
      if (at >= text.length) throw new EndsTooEarly();
      if (text.charCodeAt(at) !== QUOTE) throw new Wrong(`expected a key in double quotes, found ${shown()}`, at);
      const key = string();
      steps.push(key);
      if (keys.has(key) && duplicates.length < MAX_DUPLICATES_NAMED) duplicates.push(path());
      keys.add(key);
      space();
      expect(':');
      space();
      const start = at;
      const { type, value } = anyValue(depth);
      if (build) built[key] = value;
      else if (depth === 1) members.push({ key, kind: type, raw: text.slice(start, at) });
      steps.pop();
      space();
      if (text[at] === '}') {
        at++;
        return built;
      }
      expect(',');
      space();
    }
  }

  function array(depth: number): ExactValue {
    if (depth > MAX_DEPTH) throw new Wrong(`nested deeper than ${MAX_DEPTH} levels`, at);
    const built: ExactValue[] = [];
    at++;
    space();
    if (text[at] === ']') {
      at++;
      return built;
    }
    for (let index = 0; ; index++) {
      steps.push(index);
      const { value } = anyValue(depth);
      if (build) built.push(value);
      steps.pop();
      space();
      if (text[at] === ']') {
        at++;
        return built;
      }
      expect(',');
      space();
    }
  }

  function string(): string {
    const start = at++;
    let escaped = false;
    for (;;) {
      const code = text.charCodeAt(at);
      if (Number.isNaN(code)) throw new EndsTooEarly();
      if (code === QUOTE) break;
      if (code < 0x20) throw new Wrong('a control character in a string must be escaped', at);
      if (code === BACKSLASH) {
        escaped = true;
        escapeSequence();
      } else at++;
    }
    at++;
    // A quoted string holds no number: the built-in parser only resolves its escapes.
    return escaped ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, at - 1);
  }

  function escapeSequence(): void {
    const next = text[at + 1];
    if (next === undefined) throw new EndsTooEarly();
    if (next !== 'u') {
      if (!'"\\/bfnrt'.includes(next)) throw new Wrong(`\\${next} is not an escape JSON knows`, at);
      at += 2;
      return;
    }
    for (let digit = at + 2; digit < at + 6; digit++) {
      const char = text[digit];
      if (char === undefined) throw new EndsTooEarly();
      if (!/[0-9a-fA-F]/.test(char)) throw new Wrong('\\u must be followed by four hexadecimal digits', at);
    }
    at += 6;
  }

  function word(expected: string, value: boolean | null): boolean | null {
    const found = text.slice(at, at + expected.length);
    if (found === expected) {
      at += expected.length;
      return value;
    }
    if (expected.startsWith(found)) throw new EndsTooEarly();
    throw new Wrong(`unexpected ${shown()}`, at);
  }

  function number(): ExactValue {
    const start = at;
    const special = /^(?:NaN|-?Infinity)/.exec(text.slice(at, at + 9))?.[0];
    if (special) throw new Wrong(`${special} is not a JSON value`, at);
    if (text[at] === '-') at++;
    if (text[at] === '0') at++;
    else digits(start);
    if (text[at] === '.') {
      at++;
      digits(start);
    }
    if (text[at] === 'e' || text[at] === 'E') {
      at++;
      if (text[at] === '+' || text[at] === '-') at++;
      digits(start);
    }
    return build ? new RawNumber(text.slice(start, at)) : null;
  }

  function digits(start: number): void {
    const first = at;
    while (isDigit(text.charCodeAt(at))) at++;
    if (at > first) return;
    if (at >= text.length) throw new EndsTooEarly();
    if (at === start) throw new Wrong(`unexpected ${shown()}`, at);
    throw new Wrong(`the number ${text.slice(start, at)} must go on with a digit, found ${shown()}`, at);
  }

  function expect(char: string): void {
    if (at >= text.length) throw new EndsTooEarly();
    if (text[at] !== char) throw new Wrong(`expected ${JSON.stringify(char)}, found ${shown()}`, at);
    at++;
  }

  function space(): void {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at++;
    }
  }

  function shown(): string {
    const word = /^[\p{L}\p{N}_]{1,20}/u.exec(text.slice(at, at + 40))?.[0];
    return word ?? JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
  }

  return { document, path, members, duplicates };
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

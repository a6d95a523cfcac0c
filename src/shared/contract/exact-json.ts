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
  const scan = createJsonScan(text, false);
  try {
    const { type, start, end } = scanDocument(scan);
    const { members, duplicates } = scan;
    return { kind: 'complete', type, raw: text.slice(start, end), members, duplicates };
  } catch (error) {
    if (error instanceof EndsTooEarly) return { kind: 'incomplete', length: text.length };
    if (error instanceof Wrong) return { kind: 'wrong', at: error.at, path: pathOfScan(scan), message: error.message };
    throw error;
  }
}

/** Parses one JSON text with its numbers kept as written. Throws a `SyntaxError` naming place and path. */
export function parseExact(text: string): ExactValue {
  const scan = createJsonScan(text, true);
  try {
    return scanDocument(scan).value;
  } catch (error) {
    if (error instanceof EndsTooEarly) throw new SyntaxError(`JSON ends too early, after ${text.length} characters`);
    if (error instanceof Wrong)
      throw new SyntaxError(`${error.message} at character ${error.at + 1}${inPath(pathOfScan(scan))}`);
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

/** One walk over a JSON text: `at` is where it is, `steps` the way there. With `build` values are made, else members noted. */
type JsonScan = {
  readonly text: string;
  readonly build: boolean;
  at: number;
  readonly members: Member[];
  readonly duplicates: string[];
  readonly steps: (string | number)[];
};

function createJsonScan(text: string, build: boolean): JsonScan {
  return { text, build, at: 0, members: [], duplicates: [], steps: [] };
}

const pathOfScan = ({ steps }: JsonScan): string => pathOf(steps);

/** Walks over the whole text. Throws `Wrong` or `EndsTooEarly`. */
function scanDocument(scan: JsonScan): { type: JsonKind; start: number; end: number; value: ExactValue } {
  space(scan);
  const start = scan.at;
  const { type, value } = anyValue(scan, 0);
  const end = scan.at;
  space(scan);
  if (scan.at < scan.text.length) throw new Wrong(`unexpected ${shown(scan)} after the end of the JSON value`, scan.at);
  return { type, start, end, value };
}

function anyValue(scan: JsonScan, depth: number): { type: JsonKind; value: ExactValue } {
  switch (scan.text[scan.at]) {
    case undefined:
      throw new EndsTooEarly();
    case '{':
      return { type: 'object', value: object(scan, depth + 1) };
    case '[':
      return { type: 'array', value: array(scan, depth + 1) };
    case '"':
      return { type: 'string', value: string(scan) };
    case 't':
      return { type: 'boolean', value: word(scan, 'true', true) };
    case 'f':
      return { type: 'boolean', value: word(scan, 'false', false) };
    case 'n':
      return { type: 'null', value: word(scan, 'null', null) };
    default:
      return { type: 'number', value: number(scan) };
  }
}

function object(scan: JsonScan, depth: number): ExactValue {
  const { text, build } = scan;
  if (depth > MAX_DEPTH) throw new Wrong(`nested deeper than ${MAX_DEPTH} levels`, scan.at);
  const built: { [key: string]: ExactValue } = build ? Object.create(null) : {};
  const keys = new Set<string>();
  scan.at++;
  space(scan);
  if (text[scan.at] === '}') {
    scan.at++;
    return built;
  }
  for (;;) {
    const key = memberKey(scan, keys);
    const start = scan.at;
    const { type, value } = anyValue(scan, depth);
    if (build) built[key] = value;
    else if (depth === 1) scan.members.push({ key, kind: type, raw: text.slice(start, scan.at) });
    scan.steps.pop();
    space(scan);
    if (text[scan.at] === '}') {
      scan.at++;
      return built;
    }
    expect(scan, ',');
    space(scan);
  }
}

/** Goes over a key and its colon, to where the value begins. */
function memberKey(scan: JsonScan, keys: Set<string>): string {
  const { text, steps, duplicates } = scan;
  if (scan.at >= text.length) throw new EndsTooEarly();
  if (text.charCodeAt(scan.at) !== QUOTE)
    throw new Wrong(`expected a key in double quotes, found ${shown(scan)}`, scan.at);
  const key = string(scan);
  steps.push(key);
  if (keys.has(key) && duplicates.length < MAX_DUPLICATES_NAMED) duplicates.push(pathOf(steps));
  keys.add(key);
  space(scan);
  expect(scan, ':');
  space(scan);
  return key;
}

function array(scan: JsonScan, depth: number): ExactValue {
  const { text, build, steps } = scan;
  if (depth > MAX_DEPTH) throw new Wrong(`nested deeper than ${MAX_DEPTH} levels`, scan.at);
  const built: ExactValue[] = [];
  scan.at++;
  space(scan);
  if (text[scan.at] === ']') {
    scan.at++;
    return built;
  }
  for (let index = 0; ; index++) {
    steps.push(index);
    const { value } = anyValue(scan, depth);
    if (build) built.push(value);
    steps.pop();
    space(scan);
    if (text[scan.at] === ']') {
      scan.at++;
      return built;
    }
    expect(scan, ',');
    space(scan);
  }
}

function string(scan: JsonScan): string {
  const { text } = scan;
  const start = scan.at;
  let at = start + 1;
  let escaped = false;
  for (;;) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code)) throw new EndsTooEarly();
    if (code === QUOTE) break;
    if (code < 0x20) throw wrongIn(scan, 'a control character in a string must be escaped', at);
    if (code === BACKSLASH) {
      escaped = true;
      at = escapeSequence(scan, at);
    } else at++;
  }
  scan.at = ++at;
  // A quoted string holds no number: the built-in parser only resolves its escapes.
  return escaped ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, at - 1);
}

/** Where the text goes on behind an escape. */
function escapeSequence(scan: JsonScan, at: number): number {
  const { text } = scan;
  const next = text[at + 1];
  if (next === undefined) throw new EndsTooEarly();
  if (next !== 'u') {
    if (!'"\\/bfnrt'.includes(next)) throw wrongIn(scan, `\\${next} is not an escape JSON knows`, at);
    return at + 2;
  }
  for (let digit = at + 2; digit < at + 6; digit++) {
    const char = text[digit];
    if (char === undefined) throw new EndsTooEarly();
    if (!/[0-9a-fA-F]/.test(char)) throw wrongIn(scan, '\\u must be followed by four hexadecimal digits', at);
  }
  return at + 6;
}

function wrongIn(scan: JsonScan, message: string, at: number): Wrong {
  scan.at = at;
  return new Wrong(message, at);
}

function word(scan: JsonScan, expected: string, value: boolean | null): boolean | null {
  const found = scan.text.slice(scan.at, scan.at + expected.length);
  if (found === expected) {
    scan.at += expected.length;
    return value;
  }
  if (expected.startsWith(found)) throw new EndsTooEarly();
  throw new Wrong(`unexpected ${shown(scan)}`, scan.at);
}

function number(scan: JsonScan): ExactValue {
  const { text } = scan;
  const start = scan.at;
  const special = /^(?:NaN|-?Infinity)/.exec(text.slice(start, start + 9))?.[0];
  if (special) throw new Wrong(`${special} is not a JSON value`, start);
  if (text[scan.at] === '-') scan.at++;
  if (text[scan.at] === '0') scan.at++;
  else digits(scan, start);
  if (text[scan.at] === '.') {
    scan.at++;
    digits(scan, start);
  }
  if (text[scan.at] === 'e' || text[scan.at] === 'E') {
    scan.at++;
    if (text[scan.at] === '+' || text[scan.at] === '-') scan.at++;
    digits(scan, start);
  }
  return scan.build ? new RawNumber(text.slice(start, scan.at)) : null;
}

function digits(scan: JsonScan, start: number): void {
  const { text } = scan;
  const first = scan.at;
  let at = first;
  while (isDigit(text.charCodeAt(at))) at++;
  scan.at = at;
  if (at > first) return;
  if (at >= text.length) throw new EndsTooEarly();
  if (at === start) throw new Wrong(`unexpected ${shown(scan)}`, at);
  throw new Wrong(`the number ${text.slice(start, at)} must go on with a digit, found ${shown(scan)}`, at);
}

function expect(scan: JsonScan, char: string): void {
  const { text, at } = scan;
  if (at >= text.length) throw new EndsTooEarly();
  if (text[at] !== char) throw new Wrong(`expected ${JSON.stringify(char)}, found ${shown(scan)}`, at);
  scan.at = at + 1;
}

function space(scan: JsonScan): void {
  const { text } = scan;
  let { at } = scan;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at++;
  }
  scan.at = at;
}

function shown({ text, at }: JsonScan): string {
  const found = /^[\p{L}\p{N}_]{1,20}/u.exec(text.slice(at, at + 40))?.[0];
  return found ?? JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

import { type TextFault, textFault } from '../../reasons/text-faults.ts';
import { type ExactValue, RawNumber } from './raw-number.ts';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** One member of the outermost object; `raw` is its value exactly as written. */
export type Member = { key: string; kind: JsonKind; raw: string };

/** One walk over a JSON text: `at` is where it is, `steps` the way there. With `build` values are made, else members noted. */
export type JsonScan = {
  readonly text: string;
  readonly build: boolean;
  readonly sources: WeakMap<object, string> | undefined;
  at: number;
  readonly members: Member[];
  readonly duplicates: string[];
  readonly steps: (string | number)[];
};

export function createJsonScan(text: string, build: boolean, sources?: WeakMap<object, string>): JsonScan {
  return { text, build, sources, at: 0, members: [], duplicates: [], steps: [] };
}

/** Ends a scan. Those who catch it make words of its fault. */
export class Wrong extends Error {
  readonly fault: TextFault;
  readonly at: number;
  constructor(fault: TextFault, at: number) {
    super(fault.problem);
    this.fault = fault;
    this.at = at;
  }
}

export class EndsTooEarly extends Error {}

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function string(scan: JsonScan): string {
  const { text } = scan;
  const start = scan.at;
  let at = start + 1;
  let escaped = false;
  for (;;) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code)) throw new EndsTooEarly();
    if (code === QUOTE) break;
    if (code < 0x20) throw wrongIn(scan, textFault('json-control', {}), at);
    if (code === BACKSLASH) {
      escaped = true;
      at = escapeSequence(scan, at);
    } else at++;
  }
  scan.at = ++at;
  // A quoted string holds no number: the built-in parser only resolves its escapes.
  return escaped ? JSON.parse(text.slice(start, at)) : text.slice(start + 1, at - 1);
}

/** The index behind an escape. */
function escapeSequence(scan: JsonScan, at: number): number {
  const { text } = scan;
  const next = text[at + 1];
  if (next === undefined) throw new EndsTooEarly();
  if (next !== 'u') {
    if (!'"\\/bfnrt'.includes(next)) throw wrongIn(scan, textFault('json-escape', { found: `\\${next}` }), at);
    return at + 2;
  }
  for (let digit = at + 2; digit < at + 6; digit++) {
    const char = text[digit];
    if (char === undefined) throw new EndsTooEarly();
    if (!/[0-9a-fA-F]/.test(char)) throw wrongIn(scan, textFault('json-hexadecimal', {}), at);
  }
  return at + 6;
}

function wrongIn(scan: JsonScan, fault: TextFault, at: number): Wrong {
  scan.at = at;
  return new Wrong(fault, at);
}

export function word(scan: JsonScan, expected: string, value: boolean | null): boolean | null {
  const found = scan.text.slice(scan.at, scan.at + expected.length);
  if (found === expected) {
    scan.at += expected.length;
    return value;
  }
  if (expected.startsWith(found)) throw new EndsTooEarly();
  throw new Wrong(textFault('json-unexpected', { found: shown(scan) }), scan.at);
}

export function number(scan: JsonScan): ExactValue {
  const { text } = scan;
  const start = scan.at;
  const special = /^(?:NaN|-?Infinity)/.exec(text.slice(start, start + 9))?.[0];
  if (special) throw new Wrong(textFault('json-value', { found: special }), start);
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
  if (at === start) throw new Wrong(textFault('json-unexpected', { found: shown(scan) }), at);
  throw new Wrong(textFault('json-number', { number: text.slice(start, at), found: shown(scan) }), at);
}

export function expect(scan: JsonScan, char: string): void {
  const { text, at } = scan;
  if (at >= text.length) throw new EndsTooEarly();
  if (text[at] !== char)
    throw new Wrong(textFault('json-expected', { expected: JSON.stringify(char), found: shown(scan) }), at);
  scan.at = at + 1;
}

export function space(scan: JsonScan): void {
  const { text } = scan;
  let { at } = scan;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at++;
  }
  scan.at = at;
}

export function shown({ text, at }: JsonScan): string {
  const found = /^[\p{L}\p{N}_]{1,20}/u.exec(text.slice(at, at + 40))?.[0];
  return found ?? JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

import { textFault } from '../../reasons/text-faults.ts';
import {
  EndsTooEarly,
  expect,
  type JsonKind,
  type JsonScan,
  number,
  QUOTE,
  shown,
  space,
  string,
  Wrong,
  word,
} from './json-tokens.ts';
import type { ExactObject, ExactValue } from './raw-number.ts';
import { cut } from './visible-text.ts';

export const MAX_DEPTH = 200;
const MAX_DUPLICATES_NAMED = 20;

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

export const pathOfScan = ({ steps }: JsonScan): string => pathOf(steps);

/** Walks over the whole text. Throws `Wrong` or `EndsTooEarly`. */
export function scanDocument(scan: JsonScan): { type: JsonKind; start: number; end: number; value: ExactValue } {
  space(scan);
  const start = scan.at;
  const { type, value } = anyValue(scan, 0);
  const end = scan.at;
  space(scan);
  if (scan.at < scan.text.length) throw new Wrong(textFault('json-after', { found: shown(scan) }), scan.at);
  return { type, start, end, value };
}

function anyValue(scan: JsonScan, depth: number): { type: JsonKind; value: ExactValue } {
  switch (scan.text[scan.at]) {
    case undefined:
      throw new EndsTooEarly();
    case '{':
      return { type: 'object', value: withSource(scan, object, depth + 1) };
    case '[':
      return { type: 'array', value: withSource(scan, array, depth + 1) };
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

function withSource(scan: JsonScan, read: typeof object | typeof array, depth: number): ExactValue {
  const start = scan.at;
  const value = read(scan, depth);
  scan.sources?.set(value, scan.text.slice(start, scan.at));
  return value;
}

function object(scan: JsonScan, depth: number): ExactObject {
  const { text, build } = scan;
  if (depth > MAX_DEPTH) throw new Wrong(textFault('json-deep', { levels: MAX_DEPTH }), scan.at);
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
    if (closes(scan, '}')) return built;
  }
}

/** Goes over a key and its colon, to where the value begins. */
function memberKey(scan: JsonScan, keys: Set<string>): string {
  const { text, steps, duplicates } = scan;
  if (scan.at >= text.length) throw new EndsTooEarly();
  if (text.charCodeAt(scan.at) !== QUOTE) throw new Wrong(textFault('json-key', { found: shown(scan) }), scan.at);
  const key = string(scan);
  steps.push(key);
  if (keys.has(key) && duplicates.length < MAX_DUPLICATES_NAMED) duplicates.push(pathOf(steps));
  keys.add(key);
  space(scan);
  expect(scan, ':');
  space(scan);
  return key;
}

function array(scan: JsonScan, depth: number): ExactValue[] {
  const { text, build, steps } = scan;
  if (depth > MAX_DEPTH) throw new Wrong(textFault('json-deep', { levels: MAX_DEPTH }), scan.at);
  const built: ExactValue[] = [];
  scan.at++;
  space(scan);
  if (text[scan.at] === ']') {
    scan.at++;
    return built;
  }
  for (let index = 0; ; index++) {
    steps.push(index);
    const start = scan.at;
    const { type, value } = anyValue(scan, depth);
    if (build) built.push(value);
    else if (depth === 1) scan.members.push({ key: String(index), kind: type, raw: text.slice(start, scan.at) });
    steps.pop();
    if (closes(scan, ']')) return built;
  }
}

/** Goes over the text behind an element: true after the closing bracket, false before the next element. */
function closes(scan: JsonScan, bracket: string): boolean {
  space(scan);
  if (scan.text[scan.at] === bracket) {
    scan.at++;
    return true;
  }
  expect(scan, ',');
  space(scan);
  return false;
}

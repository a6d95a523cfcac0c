import { scanJson } from '../contract/json/exact-json.ts';
import { MAX_DEPTH } from '../contract/json/json-scan.ts';
import { type TextFault, textFault } from '../reasons/text-faults.ts';

/** A JSON value with its members in the order written, its numbers as text, and where in the text it stands. */
export type Json = { start: number; end: number } & (
  | { kind: 'object'; members: JsonMember[] }
  | { kind: 'array'; items: Json[] }
  | { kind: 'string'; value: string }
  | { kind: 'number'; text: string }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'null' }
);
type JsonMember = { key: string; keyStart: number; value: Json };
export type JsonObject = Extract<Json, { kind: 'object' }>;

/** Where a text stops being JSON; `line` and `column` count from 1. */
type BadJson = { kind: 'bad'; at: number; line: number; column: number; fault: TextFault };
export type ReadJson = { kind: 'ok'; root: Json } | BadJson;

/** Reads a JSON text by the rules the server has: no duplicate keys, at most 200 levels, every number as it was written. */
export function readJson(text: string): ReadJson {
  if (text.length < LONG) return parse(text);
  const known = recent.find((entry) => entry.text === text);
  if (known) return known.read;
  const read = parse(text);
  recent.unshift({ text, read });
  recent.length = Math.min(recent.length, KEPT);
  return read;
}

/** Cached, because several parts of the page read the same long text. */
const recent: { text: string; read: ReadJson }[] = [];
const KEPT = 4;
const LONG = 20_000;

function parse(text: string): ReadJson {
  return quickly(text) ?? carefully(text);
}

/** JSON.parse checks a text many times faster; duplicate keys and depth, which it accepts, are found while reading. */
function quickly(text: string): ReadJson | null {
  try {
    JSON.parse(text);
    const reader: Reader = { text, at: 0, depth: 0, duplicateAt: undefined };
    const root = value(reader);
    return reader.duplicateAt === undefined ? { kind: 'ok', root } : null;
  } catch {
    return null;
  }
}

/** Says what is wrong, and where. */
function carefully(text: string): ReadJson {
  const scanned = scanJson(text);
  if (scanned.kind !== 'complete') return bad(text, scanned.at, scanned.fault);
  const reader: Reader = { text, at: 0, depth: 0, duplicateAt: undefined };
  const root = value(reader);
  if (scanned.duplicates.length > 0)
    return bad(text, reader.duplicateAt ?? 0, textFault('json-twice', { key: scanned.duplicates[0] ?? '' }));
  return { kind: 'ok', root };
}

function bad(text: string, at: number, fault: TextFault): BadJson {
  const before = text.slice(0, at).split('\n');
  return { kind: 'bad', at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, fault };
}

/** Reads from `at` without checks: the text is known to be valid. */
type Reader = { readonly text: string; at: number; depth: number; duplicateAt: number | undefined };

function space(reader: Reader): void {
  const { text } = reader;
  let { at } = reader;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  reader.at = at;
}

/** Goes over a comma or an end bracket; whether that was the end. */
function ended(reader: Reader, bracket: string): boolean {
  space(reader);
  const end = reader.text[reader.at] === bracket;
  if (end || reader.text[reader.at] === ',') reader.at++;
  return end;
}

function value(reader: Reader): Json {
  space(reader);
  const start = reader.at;
  switch (reader.text[start]) {
    case '{':
      return object(reader, start);
    case '[':
      return array(reader, start);
    case '"': {
      const read = string(reader);
      return { kind: 'string', start, end: reader.at, value: read };
    }
    default:
      return word(reader, start);
  }
}

/** Unreachable for a checked text. */
function deeper(reader: Reader): void {
  if (++reader.depth > MAX_DEPTH) throw new RangeError('nested too deep');
}

function object(reader: Reader, start: number): JsonObject {
  const members: JsonMember[] = [];
  const keys = new Set<string>();
  deeper(reader);
  reader.at++;
  space(reader);
  while (!ended(reader, '}')) {
    space(reader);
    const keyStart = reader.at;
    const key = string(reader);
    if (keys.has(key)) reader.duplicateAt ??= keyStart;
    keys.add(key);
    space(reader);
    reader.at++;
    members.push({ key, keyStart, value: value(reader) });
  }
  reader.depth--;
  return { kind: 'object', start, end: reader.at, members };
}

function array(reader: Reader, start: number): Json {
  const items: Json[] = [];
  deeper(reader);
  reader.at++;
  while (!ended(reader, ']')) items.push(value(reader));
  reader.depth--;
  return { kind: 'array', start, end: reader.at, items };
}

function string(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  let at = start + 1;
  let escaped = false;
  for (; text[at] !== '"'; at++) {
    if (text[at] !== '\\') continue;
    escaped = true;
    at++;
  }
  reader.at = ++at;
  return escaped ? String(JSON.parse(text.slice(start, at))) : text.slice(start + 1, at - 1);
}

const TOKEN = /[^\s,:[\]{}"]*/y;

function word(reader: Reader, start: number): Json {
  TOKEN.lastIndex = start;
  const found = TOKEN.exec(reader.text)?.[0] ?? '';
  const end = start + found.length;
  reader.at = end;
  if (found === 'null') return { kind: 'null', start, end };
  if (found === 'true' || found === 'false') return { kind: 'boolean', start, end, value: found === 'true' };
  return { kind: 'number', start, end, text: found };
}

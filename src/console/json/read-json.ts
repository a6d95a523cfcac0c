import { scanJson } from '../../shared/contract/exact-json.ts';

/** A JSON value with its members in the order written, its numbers as text, and where in the text it stands. */
export type Json = { start: number; end: number } & (
  | { kind: 'object'; members: JsonMember[] }
  | { kind: 'array'; items: Json[] }
  | { kind: 'string'; value: string }
  | { kind: 'number'; text: string }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'null' }
);
export type JsonMember = { key: string; keyStart: number; value: Json };
export type JsonObject = Extract<Json, { kind: 'object' }>;

/** Where a text stops being JSON; `line` and `column` count from 1. */
export type BadJson = { kind: 'bad'; at: number; line: number; column: number; message: string };
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

/** Several parts of the page read the same long text in one go: the last ones are kept. */
const recent: { text: string; read: ReadJson }[] = [];
const KEPT = 4;
const LONG = 20_000;

function parse(text: string): ReadJson {
  const scanned = scanJson(text);
  if (scanned.kind === 'incomplete') return bad(text, text.length, 'it ends too early');
  if (scanned.kind === 'wrong') return bad(text, scanned.at, scanned.message);
  const reader = createReader(text);
  const root = reader.value();
  if (scanned.duplicates.length > 0)
    return bad(text, reader.duplicateAt() ?? 0, `the key ${scanned.duplicates[0]} stands twice`);
  return { kind: 'ok', root };
}

function bad(text: string, at: number, message: string): BadJson {
  const before = text.slice(0, at).split('\n');
  return { kind: 'bad', at, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
}

/** The text was checked already, so every character is where it has to be. */
function createReader(text: string) {
  let at = 0;
  let duplicateAt: number | undefined;

  const token = /[^\s,:[\]{}"]*/y;

  function space(): void {
    while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  }

  /** Goes over a comma or an end bracket; whether that was the end. */
  function ended(bracket: string): boolean {
    space();
    const end = text[at] === bracket;
    if (end || text[at] === ',') at++;
    return end;
  }

  function value(): Json {
    space();
    const start = at;
    switch (text[at]) {
      case '{':
        return object(start);
      case '[':
        return array(start);
      case '"': {
        const read = string();
        return { kind: 'string', start, end: at, value: read };
      }
      default:
        return word(start);
    }
  }

  function object(start: number): JsonObject {
    const members: JsonMember[] = [];
    const keys = new Set<string>();
    at++;
    space();
    while (!ended('}')) {
      space();
      const keyStart = at;
      const key = string();
      if (keys.has(key)) duplicateAt ??= keyStart;
      keys.add(key);
      space();
      at++;
      members.push({ key, keyStart, value: value() });
    }
    return { kind: 'object', start, end: at, members };
  }

  function array(start: number): Json {
    const items: Json[] = [];
    at++;
    while (!ended(']')) items.push(value());
    return { kind: 'array', start, end: at, items };
  }

  function string(): string {
    const start = at++;
    let escaped = false;
    for (; text[at] !== '"'; at++) {
      if (text[at] !== '\\') continue;
      escaped = true;
      at++;
    }
    at++;
    return escaped ? String(JSON.parse(text.slice(start, at))) : text.slice(start + 1, at - 1);
  }

  function word(start: number): Json {
    token.lastIndex = at;
    const found = token.exec(text)?.[0] ?? '';
    at += found.length;
    if (found === 'null') return { kind: 'null', start, end: at };
    if (found === 'true' || found === 'false') return { kind: 'boolean', start, end: at, value: found === 'true' };
    return { kind: 'number', start, end: at, text: found };
  }

  return { value, duplicateAt: () => duplicateAt };
}

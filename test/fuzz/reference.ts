import { isUtf8 } from 'node:buffer';

/**
 * A second opinion on JSON, made of other parts than the service's own: the platform's parser says what is JSON, and a
 * list of tokens shows how it was spelled.
 */
export type Reading =
  | { kind: 'bad'; why: string }
  | { kind: 'good'; value: unknown; raw: string; members: { key: string; raw: string }[] };

const MAX_DEPTH = 200;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/gsu;

export function readReference(bytes: Buffer): Reading {
  if (!isUtf8(bytes)) return { kind: 'bad', why: 'not UTF-8' };
  const text = bytes.toString('utf8');
  if (text.startsWith('\ufeff')) return { kind: 'bad', why: 'byte order mark' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'bad', why: 'not JSON' };
  }
  return readTokens(text, value);
}

/** Which keys the objects of a JSON text have, and where the values of the outermost object or list stand. */
function readTokens(text: string, value: unknown): Reading {
  const isList = Array.isArray(value);
  const open: Set<string>[] = [];
  const members: { key: string; raw: string }[] = [];
  let before = '';
  let valueAt = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isOutermost = open.length === 1;
    if (token === '}' || token === ']') open.pop();
    const last = members.at(-1);
    if (last && isOutermost && [',', '}', ']'].includes(token)) last.raw = text.slice(valueAt, index).trim();
    if (isList && (open.length === 0 ? token === '[' : isOutermost && token === ',')) {
      members.push({ key: String(members.length), raw: '' });
      valueAt = index + 1;
    }
    if (token === ':') {
      const key: string = JSON.parse(before);
      if (open.at(-1)?.has(key)) return { kind: 'bad', why: `${before} is there twice` };
      open.at(-1)?.add(key);
      if (isOutermost) members.push({ key, raw: '' });
      if (isOutermost) valueAt = index + 1;
    }
    if (token === '{' || token === '[') open.push(new Set());
    if (open.length > MAX_DEPTH) return { kind: 'bad', why: 'too deep' };
    before = token;
  }
  return { kind: 'good', value, raw: text.trim(), members: members.filter(({ raw }) => raw !== '') };
}

/** The number tokens of a JSON text, in order. */
export function numbersIn(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => token).filter((token) => /^[-\d]/.test(token));
}

/** What kind of value a JSON text is. */
export function kindOf(raw: string): 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' {
  const first = raw[0] ?? '';
  if (first === '{') return 'object';
  if (first === '[') return 'array';
  if (first === '"') return 'string';
  if (first === 'n') return 'null';
  return first === 't' || first === 'f' ? 'boolean' : 'number';
}

/** The same text in ASCII. */
export function escaped(raw: string): string {
  return Array.from({ length: raw.length }, (_, at) => raw.charCodeAt(at))
    .map((code) => (code < 0x7f ? String.fromCharCode(code) : `\\u${(0x10000 + code).toString(16).slice(1)}`))
    .join('');
}

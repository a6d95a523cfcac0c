import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';

/** How a form row reads what is typed into it. `auto`: JSON when it is JSON, else a text. */
export const valueKinds = ['auto', 'text', 'int64', 'decimal', 'yes-no', 'null', 'json'] as const;
export type ValueKind = (typeof valueKinds)[number];

/** The fault of a typed value; its words are in the dictionaries. */
export type ValueProblem = 'not-whole' | 'beyond-int64' | 'not-decimal' | 'not-yes-no' | 'not-json';

/** Raw JSON for what was typed. `empty`: nothing was typed where nothing stands for no value. */
type TypedValue = { kind: 'raw'; raw: string } | { kind: 'empty' } | { kind: 'bad'; problem: ValueProblem };

const INT64_MAX = 9_223_372_036_854_775_807n;

/** Reads typed text as a kind of value, numbers to the last digit. */
export function readTyped(kind: ValueKind, typed: string): TypedValue {
  const trimmed = typed.trim();
  if (kind === 'null') return raw('null');
  if (kind === 'text') return raw(JSON.stringify(typed));
  if (trimmed === '') return { kind: 'empty' };
  switch (kind) {
    case 'auto':
      return readJson(trimmed).kind === 'ok' ? raw(trimmed) : raw(JSON.stringify(typed));
    case 'int64':
      return readWhole(trimmed);
    case 'decimal':
      return readDecimal(trimmed);
    case 'yes-no':
      return trimmed === 'true' || trimmed === 'false' ? raw(trimmed) : bad('not-yes-no');
    case 'json':
      return readJson(trimmed).kind === 'ok' ? raw(trimmed) : bad('not-json');
  }
}

/** How a value is typed in a row of a kind; undefined when that kind cannot hold it. */
export function typedText(kind: ValueKind, value: Json, text: string): string | undefined {
  const asWritten = text.slice(value.start, value.end);
  switch (kind) {
    case 'auto':
      return value.kind === 'string' && readTyped('auto', value.value).kind === 'raw' && isPlain(value.value)
        ? value.value
        : asWritten;
    case 'text':
      return value.kind === 'string' ? value.value : undefined;
    case 'int64':
      return value.kind === 'number' && /^-?\d+$/.test(value.text) ? value.text : undefined;
    case 'decimal':
      return value.kind === 'number' ? value.text : undefined;
    case 'yes-no':
      return value.kind === 'boolean' ? String(value.value) : undefined;
    case 'null':
      return value.kind === 'null' ? '' : undefined;
    case 'json':
      return asWritten;
  }
}

/** The kind that suits a value best. */
export function kindOf(value: Json): ValueKind {
  switch (value.kind) {
    case 'string':
      return 'text';
    case 'number':
      return /^-?\d+$/.test(value.text) ? 'int64' : 'decimal';
    case 'boolean':
      return 'yes-no';
    case 'null':
      return 'null';
    default:
      return 'json';
  }
}

/** The kind a declared value type starts with. */
export function kindOfType(valueType: string): ValueKind {
  const kinds: ReadonlyMap<string, ValueKind> = new Map([
    ['String', 'text'],
    ['Integer', 'int64'],
    ['Long', 'int64'],
    ['Double', 'decimal'],
    ['Boolean', 'yes-no'],
    ['List', 'json'],
    ['Map', 'json'],
  ]);
  return kinds.get(valueType) ?? 'auto';
}

/** The value in another kind, when it can be carried over: "5" and 5, 5 and 5.0 and so on. */
export function convert(value: Json, text: string, kind: ValueKind): TypedValue {
  const fitting = typedText(kind, value, text);
  if (fitting !== undefined && kind !== 'auto') return readTyped(kind, fitting);
  return readTyped(kind, value.kind === 'string' ? value.value : compactJson(value));
}

/** A string that the automatic kind would not take for something else. */
function isPlain(value: string): boolean {
  return value.trim() !== '' && readJson(value.trim()).kind === 'bad';
}

function readWhole(typed: string): TypedValue {
  if (!/^[+-]?\d{1,4000}$/.test(typed)) return bad('not-whole');
  const whole = BigInt(typed);
  return whole > INT64_MAX || whole < -INT64_MAX - 1n ? bad('beyond-int64') : raw(whole.toString());
}

function readDecimal(typed: string): TypedValue {
  const match = /^([+-]?)(\d*)(\.\d+)?([eE][+-]?\d+)?$/.exec(typed);
  if (!match) return bad('not-decimal');
  const [, sign = '', whole = '', fraction = '', exponent = ''] = match;
  if (whole === '' && fraction === '') return bad('not-decimal');
  return raw(`${sign === '-' ? '-' : ''}${whole.replace(/^0+(?=\d)/, '') || '0'}${fraction}${exponent}`);
}

function raw(text: string): TypedValue {
  return { kind: 'raw', raw: text };
}

function bad(problem: ValueProblem): TypedValue {
  return { kind: 'bad', problem };
}

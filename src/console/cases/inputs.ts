import { cellTypeOf } from '../../shared/cases/csv/cell-type.ts';
import { readCsv } from '../../shared/cases/csv/csv-cases.ts';
import { readCase } from '../../shared/cases/document/read-case.ts';
import { createRefusals, type SetAside } from '../../shared/cases/document/refusal.ts';
import { parsePath, printPath } from '../../shared/cases/path.ts';
import { readMoment } from '../../shared/contract/moment.ts';
import { compactJson } from '../../shared/json-tree/print-json.ts';
import { type Json, type JsonObject, readJson } from '../../shared/json-tree/read-json.ts';
import type { Problem } from '../../shared/reasons/problems.ts';
import type { TextFault } from '../../shared/reasons/text-faults.ts';
import type { SchemaField } from '../api/browse.ts';
import { isRead } from '../run/form.ts';

/** The meaning of a column: `name` and `time` are of the case, the others are of its input. */
type ColumnType = 'name' | 'time' | 'number' | 'boolean' | 'text' | 'object' | 'list' | 'null' | 'mixed';
type Column = { name: string; type: ColumnType; read: boolean };

/** Many inputs as they will be sent, and the first of them to look at. `rows` hold text as it was written. */
export type Inputs = {
  format: 'csv' | 'json';
  columns: Column[];
  rows: string[][];
  count: number;
  /** The text to send: the CSV itself, or the list of cases. */
  body: string;
  /** Rows with mistakes. They are not counted. */
  setAside: SetAside;
};
export type ReadInputs =
  | { kind: 'inputs'; inputs: Inputs }
  | { kind: 'empty' }
  | { kind: 'mistakes'; refusals: readonly Problem[] }
  | { kind: 'not-json'; line: number; fault: TextFault }
  | { kind: 'no-list' };

const PREVIEWED = 50;

/**
 * Reads CSV with a header, or a JSON list of inputs or of cases. Times without an offset are of `timeZone`. The service reads it
 * again, whole, before anything runs.
 */
export function readInputs(text: string, fields: readonly SchemaField[], timeZone: string): ReadInputs {
  const plain = text.replace(/^\ufeff/, '');
  const [first] = plain.trimStart();
  if (first === undefined) return { kind: 'empty' };
  return first === '[' || first === '{' ? readList(plain, fields, timeZone) : readTable(plain, fields, timeZone);
}

function readTable(text: string, fields: readonly SchemaField[], timeZone: string): ReadInputs {
  const types = new Map(fields.map(({ key, valueType }) => [key, cellTypeOf(valueType)]));
  const read = readCsv(text, { typeOf: (key) => types.get(key) ?? 'text', timeZone, skipInvalid: true });
  if (read.kind === 'refused') {
    const isEmpty = !/[\r\n]/.test(text.trim()) && read.refusals.every(({ field }) => field === 'body');
    return isEmpty ? { kind: 'empty' } : { kind: 'mistakes', refusals: read.refusals };
  }
  const typeOf = (name: string): ColumnType => {
    if (name === 'name') return 'name';
    const type = name === 'asOf' ? 'time' : (types.get(name) ?? 'text');
    return type === 'integer' ? 'number' : type;
  };
  const columns = read.header
    .map((cell) => cell.trim())
    .map((name) => ({ name, type: typeOf(name), read: isRead(name, fields) }));
  const { cases, setAside } = read;
  const rows = read.rows.slice(0, PREVIEWED);
  return { kind: 'inputs', inputs: { format: 'csv', columns, rows, count: cases.length, body: text, setAside } };
}

function readList(text: string, fields: readonly SchemaField[], timeZone: string): ReadInputs {
  const read = readJson(text);
  if (read.kind === 'bad') return { kind: 'not-json', line: read.line, fault: read.fault };
  const list = read.root.kind === 'object' ? memberIn(read.root, 'cases') : read.root;
  if (list?.kind !== 'array') return { kind: 'no-list' };
  const refusals = createRefusals(lineIn(text, list));
  const bodies: string[] = [];
  const cases = list.items.flatMap((element, index) => {
    const one = caseOf(element, timeZone);
    bodies.push(one.json);
    return refusals.accepted(() => readCase(one.json, { index, at: refusals.at(index) })).map(() => one);
  });
  const setAside = { cases: list.items.length - cases.length, errors: refusals.all.map(inWordsOfFiles) };
  if (cases.length === 0 && setAside.cases > 0) return { kind: 'mistakes', refusals: setAside.errors };
  if (cases.length === 0) return { kind: 'empty' };
  const shown = cases.slice(0, PREVIEWED).map(({ input }) => input);
  const names = [...new Set(shown.flatMap(({ members }) => members.map(({ key }) => key)))];
  const columns = names.map((name) => ({ name, type: typeIn(shown, name), read: isRead(name, fields) }));
  const rows = shown.map((input) => names.map((name) => textIn(input, name)));
  const body = `[${bodies.join(',')}]`;
  return {
    kind: 'inputs',
    inputs: { format: 'json', columns, rows, count: cases.length, body, setAside },
  };
}

function caseOf(element: Json, timeZone: string): { input: JsonObject; json: string } {
  if (element.kind !== 'object')
    return { input: { ...element, kind: 'object', members: [] }, json: compactJson(element) };
  const input = inputOf(element);
  return { input, json: requestOf(element, { input, timeZone }) };
}

/** The line in which a part of a list stands, or what it is a part of. */
function lineIn(text: string, list: Json): (path: string) => number | null {
  return (path) => {
    let at = list;
    for (const step of parsePath(path) ?? []) {
      const next =
        at.kind === 'array' ? at.items[Number(step)] : at.kind === 'object' ? memberNamed(at, String(step)) : undefined;
      if (next === undefined) break;
      at = next;
    }
    return text.slice(0, at.start).split('\n').length;
  };
}

const memberNamed = (element: JsonObject, name: string) =>
  memberIn(element, name) ?? memberIn(element, namesInFiles.get(name) ?? name);

/** Members whose names differ between a call and a file. */
const namesInFiles = new Map([
  ['the service', 'input'],
  ['ts', 'asOf'],
]);

function inWordsOfFiles({ field, ...rest }: Problem): Problem {
  const steps = (parsePath(field) ?? []).map((step, index) =>
    index === 1 ? (namesInFiles.get(String(step)) ?? step) : step,
  );
  return { ...rest, field: steps.length === 0 ? field : printPath(steps) };
}

const CASE_MEMBERS = new Set(['name', 'input', 'the service', 'asOf', 'ts', 'tags', 'skip', 'expect']);

/** The input of an element that is a case, else the element itself. */
function inputOf(element: JsonObject): JsonObject {
  const isCase = element.members.every(({ key }) => CASE_MEMBERS.has(key));
  const input = memberIn(element, 'the service') ?? memberIn(element, 'input');
  return isCase && input?.kind === 'object' ? input : element;
}

/** A case as a call has it: its input and its time are called otherwise than in a file. */
function requestOf(element: JsonObject, { input, timeZone }: { input: JsonObject; timeZone: string }): string {
  if (input === element) return `{"the service":${compactJson(input)}}`;
  const others = element.members.flatMap(({ key, value }) => {
    if (key === 'input' || key === 'the service') return [];
    const time = key === 'asOf' && value.kind === 'string' ? readMoment(value.value, timeZone) : null;
    if (time?.kind === 'moment') return [`"ts":${time.ms}`];
    return [`${JSON.stringify(key === 'asOf' ? 'ts' : key)}:${compactJson(value)}`];
  });
  return `{${[...others, `"the service":${compactJson(input)}`].join(',')}}`;
}

function typeIn(inputs: readonly JsonObject[], name: string): ColumnType {
  const kinds = new Set(inputs.flatMap((input) => memberIn(input, name)?.kind ?? []));
  kinds.delete('null');
  if (kinds.size > 1) return 'mixed';
  const [kind = 'null'] = kinds;
  if (kind === 'array') return 'list';
  return kind === 'string' ? 'text' : kind;
}

function textIn(input: JsonObject, name: string): string {
  const value = memberIn(input, name);
  return value === undefined ? '' : compactJson(value);
}

function memberIn({ members }: JsonObject, name: string): Json | undefined {
  return members.find(({ key }) => key === name)?.value;
}

/** The bytes kept of a run besides its input: a record, and an answer that has the input again, with a trace. */
const RECORD_CHARACTERS = 2500;
const INPUT_TIMES = 2.5;

/** About how many runs of this size the service has room for. */
export function runsThatFit(
  bytes: number,
  { runs, inputCharacters }: { runs: number; inputCharacters: number },
): number {
  const each = RECORD_CHARACTERS + (INPUT_TIMES * inputCharacters) / runs;
  return Math.floor(bytes / each);
}

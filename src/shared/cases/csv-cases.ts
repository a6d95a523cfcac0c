import { type CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import type { Case } from './case.ts';
import type { CellType } from './cell-type.ts';
import { delimiterOf } from './csv-delimiter.ts';
import { parsePath, type Step } from './path.ts';
import { createRefusals, noLines, type Refusal, type Refusals } from './refusal.ts';

type ReadCsv = { kind: 'cases'; cases: Case[] } | { kind: 'refused'; refusals: Refusal[] };

const MAX_COLUMNS = 1000;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/;

/** A cell: null when it is empty, which is not the same as an empty text in quotes. */
const cellSchema = z.object({ text: z.string(), quoted: z.boolean() }).nullable();
type Cell = z.infer<typeof cellSchema>;
const rowsSchema = z.array(z.array(cellSchema));
type Column = { kind: 'name' } | { kind: 'asOf' } | { kind: 'input'; header: string; path: Step[]; type: CellType };

/** Reads CSV with a header of input paths, `name` and `asOf`; separated by commas, semicolons or tabs. One row is one case. */
export function readCsv(text: string, typeOf: (key: string) => CellType): ReadCsv {
  const refusals = createRefusals(noLines);
  const rows = readRows(text, refusals);
  const [header, ...body] = rows;
  if (header && refusals.all.length === 0) {
    const columns = readHeader(header, { typeOf, refusals });
    if (refusals.all.length === 0) {
      const cases = body.map((row, index) => readRow(row, { columns, index, refusals }));
      if (cases.length === 0) refusals.add(['body'], 'has a header but no rows');
      if (refusals.all.length === 0) return { kind: 'cases', cases };
    }
  }
  if (refusals.all.length === 0) refusals.add(['body'], 'is empty: begin with a header of input paths');
  return { kind: 'refused', refusals: refusals.all };
}

function readRows(text: string, refusals: Refusals): Cell[][] {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  const delimiter = delimiterOf(plain);
  // A row wider than any header may be is not even cut into cells.
  const firstLine = plain.slice(0, plain.search(/[\r\n]|$/));
  if (firstLine.split(delimiter).length > MAX_COLUMNS) {
    refusals.add(['header'], `has more than ${MAX_COLUMNS} columns`);
    return [];
  }
  try {
    const cast = (cell: string, { quoting }: { quoting: boolean }): Cell =>
      cell === '' && !quoting ? null : { text: cell, quoted: quoting };
    return rowsSchema.parse(parse(plain, { delimiter, cast, skip_empty_lines: true }));
  } catch (error) {
    const line = isCsvError(error) && typeof error.lines === 'number' ? error.lines : null;
    const message = error instanceof Error ? error.message : String(error);
    refusals.all.push({ path: 'body', line, message: `is not CSV: ${message}` });
    return [];
  }
}

function isCsvError(error: unknown): error is CsvError & { lines?: unknown } {
  return error instanceof Error && 'lines' in error;
}

function readHeader(
  cells: Cell[],
  { typeOf, refusals }: { typeOf: (key: string) => CellType; refusals: Refusals },
): Column[] {
  const seen = new Set<string>();
  return cells.map((cell, index): Column => {
    const header = cell?.text.trim() ?? '';
    if (seen.has(header)) refusals.add(['header', index], `gives ${JSON.stringify(header)} twice`);
    seen.add(header);
    if (header === 'name' || header === 'asOf') return { kind: header };
    const path = parsePath(header);
    if (!path || path.some((step) => typeof step === 'number'))
      refusals.add(['header', index], `is not an input path such as user.age: ${JSON.stringify(header)}`);
    return { kind: 'input', header, path: path ?? [], type: typeOf(header) };
  });
}

type RowOptions = { columns: Column[]; index: number; refusals: Refusals };

function readRow(cells: Cell[], { columns, index, refusals }: RowOptions): Case {
  const input: Members = new Map();
  let name = `row ${index + 1}`;
  let ts: string | null = null;
  for (const [position, column] of columns.entries()) {
    const cell = cells[position] ?? null;
    if (cell === null) continue;
    if (column.kind === 'name') name = cell.text;
    else if (column.kind === 'asOf')
      ts = timeOf(cell.text, () => refuse(index, 'asOf', 'is not a time with an offset'));
    else
      put(
        input,
        column.path,
        jsonOf(cell, column, (message) => refuse(index, column.header, message)),
      );
  }
  function refuse(row: number, header: string, message: string): void {
    refusals.add([`row ${row + 1}`, header], message);
  }
  return { name, input: print(input), ts, tags: [], skip: false, line: index + 2, expect: null };
}

function timeOf(text: string, refuse: () => void): string | null {
  if (/^\d{1,18}$/.test(text)) return text;
  if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return String(Date.parse(text));
  refuse();
  return null;
}

function jsonOf({ text, quoted }: NonNullable<Cell>, { type }: { type: CellType }, refuse: (message: string) => void) {
  if (type === 'number' && NUMBER.test(text.trim())) return text.trim();
  if (type === 'boolean' && /^(?:true|false)$/i.test(text.trim())) return text.trim().toLowerCase();
  if (type === 'text' || (quoted && text === '')) return JSON.stringify(text);
  refuse(
    `must be a ${type === 'number' ? 'number as JSON writes it' : 'true or false'}, found ${JSON.stringify(text.slice(0, 40))}`,
  );
  return 'null';
}

/** An input as it grows: JSON text, or members. Not an object, so that no name means anything. */
type Members = Map<string, string | Members>;

function put(members: Members, path: readonly Step[], json: string): void {
  const [step, ...rest] = path;
  const name = String(step);
  if (rest.length === 0) {
    members.set(name, json);
    return;
  }
  const inner = members.get(name);
  const next: Members = inner instanceof Map ? inner : new Map();
  members.set(name, next);
  put(next, rest, json);
}

function print(members: Members): string {
  const parts = [...members].map(
    ([name, value]) => `${JSON.stringify(name)}:${typeof value === 'string' ? value : print(value)}`,
  );
  return `{${parts.join(',')}}`;
}

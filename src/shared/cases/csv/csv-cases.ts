import { type CsvError, parse } from 'csv-parse/sync';
import { joinMembers } from '../../contract/json/exact-json.ts';
import { hasUnseen, visible } from '../../contract/json/visible-text.ts';
import { readMoment } from '../../contract/moment.ts';
import { type Problem, problemAt } from '../../reasons/problems.ts';
import type { Case } from '../case.ts';
import { createRefusals, type Refusals, type SetAside } from '../document/refusal.ts';
import { parsePath, printPath, type Step } from '../path.ts';
import type { CellType } from './cell-type.ts';

/** `header` and `rows` are the text of the cells: a row for each case. */
type ReadCsv =
  | { kind: 'cases'; cases: Case[]; setAside: SetAside; header: string[]; rows: string[][] }
  | { kind: 'refused'; refusals: Problem[] };

type CsvOptions = {
  /** The type of a column's cells. */
  typeOf: (header: string) => CellType;
  /** The time zone of times without an offset, by its IANA name. Without one, such a time is a mistake. */
  timeZone?: string | undefined;
  /** A row with a mistake is set aside. Otherwise one mistake refuses all rows. */
  skipInvalid?: boolean;
};

const MAX_COLUMNS = 1000;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** A cell: null when it is empty, which is not the same as an empty text in quotes. */
type Cell = { text: string; quoted: boolean } | null;
/** The library's result for a row. `lines`: the line that it ends in. */
type ParsedRow = { record: Cell[]; info: { lines: number } };
/** `line`: the line of the file that the row begins in. */
type Row = { cells: Cell[]; line: number };
type Column =
  | { kind: 'name' }
  | { kind: 'asOf' }
  | { kind: 'unused' }
  | { kind: 'input'; header: string; path: Step[]; type: CellType };

/** Reads CSV with a header of input paths, `name` and `asOf`; separated by commas, semicolons or tabs. One row is one case. */
export function readCsv(text: string, options: CsvOptions): ReadCsv {
  const refusals = createRefusals();
  const [header, ...body] = readRows(text, refusals);
  const columns = header && refusals.found() === 0 ? readHeader(header.cells, { ...options, refusals, body }) : [];
  if (header && refusals.found() === 0 && body.length === 0) refusals.at('body').refuse('csv-without-rows', {});
  if (!header && refusals.found() === 0) refusals.at('body').refuse('csv-empty', {});
  if (refusals.found() > 0) return { kind: 'refused', refusals: refusals.all };
  const read = body.flatMap((row, index) =>
    refusals.accepted(() => ({
      one: readRow(row, { ...options, columns, index, refusals }),
      cells: textOf(row.cells),
    })),
  );
  const wrong = body.length - read.length;
  if (wrong > 0 && (!options.skipInvalid || read.length === 0)) return { kind: 'refused', refusals: refusals.all };
  return {
    ...{ kind: 'cases', cases: read.map(({ one }) => one), setAside: { cases: wrong, errors: refusals.all } },
    ...{ header: textOf(header?.cells ?? []), rows: read.map(({ cells }) => cells) },
  };
}

const textOf = (cells: readonly Cell[]) => cells.map((cell) => cell?.text ?? '');

function readRows(text: string, refusals: Refusals): Row[] {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  const delimiter = delimiterOf(plain);
  // A row wider than any header may be is not even cut into cells.
  const firstLine = plain.slice(0, plain.search(/[\r\n]|$/));
  if (firstLine.split(delimiter).length > MAX_COLUMNS) {
    refusals.at('header').refuse('too-many-columns', { maximum: MAX_COLUMNS });
    return [];
  }
  try {
    const cast = (cell: string, { quoting }: { quoting: boolean }): Cell =>
      cell === '' && !quoting ? null : { text: cell, quoted: quoting };
    const rows: unknown[] = parse(plain, {
      delimiter,
      cast,
      skip_empty_lines: true,
      relax_column_count: true,
      info: true,
    });
    return placed(rows.filter(isParsedRow)).filter(isFilled);
  } catch (error) {
    const line = isCsvError(error) && typeof error.lines === 'number' ? error.lines : undefined;
    const message = error instanceof Error ? error.message : String(error);
    refusals.put(problemAt('body', 'not-csv', { message, line }));
    return [];
  }
}

/** A spreadsheet writes rows of separators where cells were emptied, and cells that look empty may hold spaces. */
function isFilled({ cells }: Row): boolean {
  return cells.some((cell) => cell !== null && (cell.text.trim() !== '' || (cell.quoted && cell.text === '')));
}

function isParsedRow(row: unknown): row is ParsedRow {
  return typeof row === 'object' && row !== null && 'record' in row && 'info' in row;
}

/** Rows with the line that each begins in. A cell in quotes may go over several lines; the library counts a CRLF in one as two. */
function placed(rows: readonly ParsedRow[]): Row[] {
  let countedTwice = 0;
  return rows.map(({ record, info }) => {
    const quoted = record.map((cell) => (cell?.quoted ? cell.text : '')).join('');
    const counted = quoted.match(/[\r\n]/g)?.length ?? 0;
    const line = info.lines - counted - countedTwice;
    countedTwice += quoted.match(/\r\n/g)?.length ?? 0;
    return { cells: record, line };
  });
}

function isCsvError(error: unknown): error is CsvError & { lines?: unknown } {
  return error instanceof Error && 'lines' in error;
}

function readHeader(
  cells: Cell[],
  { typeOf, refusals, body }: Pick<CsvOptions, 'typeOf'> & { refusals: Refusals; body: readonly Row[] },
): Column[] {
  const whole = new Map<string, number>();
  const parts = new Map<string, number>();
  return cells.map((cell, index): Column => {
    const header = cell?.text.trim() ?? '';
    const at = { column: index + 1, line: 1 };
    const name = JSON.stringify(header);
    if (header === '' && body.every(({ cells: row }) => (row[index] ?? null) === null)) return { kind: 'unused' };
    const kind = header === 'name' || header === 'asOf' ? header : 'input';
    const path = kind === 'input' ? parsePath(header) : null;
    const own = path === null ? `(${header})` : printPath(path);
    const outer = (path ?? []).slice(1).map((_, length) => printPath((path ?? []).slice(0, length + 1)));
    const [twice, inside] = [whole.get(own), parts.get(own) ?? outer.map((each) => whole.get(each)).find(isColumn)];
    if (header === '') refusals.put(problemAt('header', 'column-nameless', at));
    else if (hasUnseen(header))
      refusals.put(problemAt('header', 'column-unseen', { ...at, name: `"${visible(header)}"` }));
    else if (twice !== undefined) refusals.put(problemAt('header', 'column-twice', { ...at, name, first: twice + 1 }));
    else if (inside !== undefined) refusals.put(problemAt('header', 'column-part', { ...at, name, other: inside + 1 }));
    else if (kind === 'input' && (!path || path.some((step) => typeof step === 'number')))
      refusals.put(problemAt('header', 'column-path', { ...at, name }));
    whole.set(own, twice ?? index);
    for (const each of outer) parts.set(each, index);
    return kind === 'input' ? { kind, header, path: path ?? [], type: typeOf(header) } : { kind };
  });
}

const isColumn = (index: number | undefined) => index !== undefined;

/** A cell, whose mistake is told by the column and the place. */
type CellPlace = { field: string; row: number; column: number; line: number; refusals: Refusals };

type RowOptions = Pick<CsvOptions, 'timeZone'> & { columns: Column[]; index: number; refusals: Refusals };

function readRow({ cells, line }: Row, { timeZone, columns, index, refusals }: RowOptions): Case {
  const input: Members = new Map();
  let name = `row ${index + 1}`;
  let ts: string | null = null;
  if (cells.length !== columns.length) {
    const wrong = { columns: columns.length, found: cells.length, row: index + 1, line };
    refusals.put(problemAt('body', 'row-cells', wrong));
    return { name, input: '{}', ts, tags: [], skip: false, line, expect: null };
  }
  for (const [position, column] of columns.entries()) {
    const cell = cells[position] ?? null;
    if (cell === null || column.kind === 'unused') continue;
    const field = column.kind === 'input' ? column.header : column.kind;
    const place = { field, row: index + 1, column: position + 1, line, refusals };
    if (column.kind === 'name') name = cell.text;
    else if (column.kind === 'asOf') ts = timeOf(cell.text.trim(), timeZone, place);
    else put(input, column.path, jsonOf(cell, column, place));
  }
  return { name, input: print(input), ts, tags: [], skip: false, line, expect: null };
}

function timeOf(text: string, timeZone: string | undefined, { field, refusals, ...at }: CellPlace): string | null {
  const read = readMoment(text, timeZone);
  if (read.kind === 'moment') return read.ms;
  const wrong = { ...at, zone: timeZone ?? 'UTC', found: JSON.stringify(text.slice(0, 40)) };
  refusals.put(problemAt(field, read.kind, wrong));
  return null;
}

const EXPECTED = { integer: 'whole-number', number: 'plain-number', boolean: 'boolean' } as const;

function jsonOf(
  { text, quoted }: NonNullable<Cell>,
  { type }: { type: CellType },
  { field, refusals, ...at }: CellPlace,
): string {
  const plain = text.trim();
  const isNumber = NUMBER.test(plain);
  if (type === 'number' ? isNumber : type === 'integer' && INTEGER.test(plain)) return plain;
  if (type === 'boolean' && /^(?:true|false)$/i.test(plain)) return plain.toLowerCase();
  if (type === 'text' || (quoted && text === '')) return JSON.stringify(text);
  const found = JSON.stringify(text.slice(0, 40));
  // A spreadsheet keeps six digits of a long id: 9.0072E+15 is another user. And 1.000 may be a thousand.
  const isCut = type === 'integer' && isNumber && /e/i.test(plain);
  refusals.put(
    isCut
      ? problemAt(field, 'cell-cut', { ...at, found })
      : problemAt(field, 'invalid-type', { ...at, expected: EXPECTED[type], found }),
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
  return joinMembers([...members].map(([name, value]) => [name, typeof value === 'string' ? value : print(value)]));
}

/** The separator that comes most often in the header, outside quotes. */
function delimiterOf(text: string): string {
  const header = /^(?:[^"\n]+|"[^"]*"?)*/.exec(text)?.[0].replace(/"[^"]*"?/g, '') ?? '';
  const count = (separator: string) => header.split(separator).length;
  return [',', ';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best));
}

import { compactJson } from '../../../shared/json-tree/print-json.ts';
import { type JsonObject, readJson } from '../../../shared/json-tree/read-json.ts';
import type { SchemaField } from '../../api/browse.ts';
import { type CaseRow, inputOf } from '../case-rows.ts';

const MAX_COLUMNS = 3;
/** Rows that are looked at to choose. */
const SAMPLE = 100;

/**
 * The keys of the inputs by which rows are told apart best: those that the rule reads first, and among them those with the most values.
 * A key that is the same everywhere is not one of them.
 */
export function inputColumns(rows: readonly CaseRow[], fields: readonly SchemaField[]): string[] {
  const values = new Map<string, Set<string>>();
  const sample = rows.slice(0, SAMPLE).flatMap((row) => documentOf(row) ?? []);
  for (const { members } of sample)
    for (const { key, value } of members)
      if (value.kind !== 'object' && value.kind !== 'array')
        values.set(key, (values.get(key) ?? new Set()).add(compactJson(value)));
  const isRead = (key: string) => fields.some((field) => field.key === key);
  return [...values]
    .filter(([key, { size }]) => size > 1 || (sample.length === 1 && isRead(key)))
    .sort(([a, one], [b, other]) => Number(isRead(b)) - Number(isRead(a)) || other.size - one.size)
    .slice(0, MAX_COLUMNS)
    .map(([key]) => key);
}

/** A row's value in each column, as JSON text; empty where it has none. */
export function columnValues(row: CaseRow, columns: readonly string[]): string[] {
  const members = new Map(documentOf(row)?.members.map(({ key, value }) => [key, value]));
  return columns.map((key) => {
    const value = members.get(key);
    return value === undefined ? '' : compactJson(value);
  });
}

function documentOf(row: CaseRow): JsonObject | null {
  const text = inputOf(row);
  const read = text === null ? null : readJson(text);
  return read?.kind === 'ok' && read.root.kind === 'object' ? read.root : null;
}

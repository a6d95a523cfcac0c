import { type JsonFault, wordsOfJsonFault } from '../../shared/reasons/json-faults.ts';
import { differences } from '../../shared/reasons/remarks.ts';
import type { Difference } from '../api/batch-items.ts';
import type { ExecutionRecord } from '../api/executions.ts';
import { type Failure, noFailure } from '../api/request.ts';
import type { TextKey } from './en.ts';
import type { Say } from './use-text.tsx';

/** The faults that the reader of CSV finds, by the key of the same sentence in the dictionaries; `a` and `b` are what it found. */
const sentences: readonly [RegExp, TextKey][] = [
  [/^must be a number as JSON writes it, found (?<a>.*)$/s, 'csv.bad.number'],
  [/^must be a whole number, found (?<a>.*)$/s, 'csv.bad.integer'],
  [/^must be a whole number with all its digits, found (?<a>.*): a spreadsheet .*$/s, 'csv.bad.cut'],
  [/^must be true or false, found (?<a>.*)$/s, 'csv.bad.boolean'],
  [/^must have one cell for each of the (?<a>\d+) columns, found (?<b>\d+).*$/s, 'csv.bad.cells'],
];

/** The fault of a cell, in the reader's language. */
export function cellWords(message: string, say: Say): string {
  for (const [pattern, key] of sentences) {
    const found = pattern.exec(message);
    if (found) return say(key, { a: '', b: '', ...found.groups });
  }
  return message;
}

/** The fault of a JSON text, to be said in the reader's language. */
export const failureOfJson = (fault: JsonFault): Failure => ({
  ...noFailure,
  ...fault,
  error: wordsOfJsonFault(fault),
});

export const failureOfWarning = ({ code, params, message }: ExecutionRecord['warnings'][number]): Failure => ({
  ...noFailure,
  ...{ reason: code, params, error: message },
});

/** How what came differs from what was expected. */
export const failureOfDifference = (how: Difference['how']): Failure => ({
  ...noFailure,
  reason: how,
  error: differences[how],
});

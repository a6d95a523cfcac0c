import type { BatchReport } from '../contract/batches.ts';
import { visibleLines } from '../contract/json/visible-text.ts';
import { reasonsOf } from './reported.ts';

const COLUMNS = ['n', 'name', 'target', 'verdict', 'outcome', 'tookMs', 'address', 'code', 'mockId'] as const;
const CUT = '(too large to be kept)';
/** A spreadsheet runs text that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** One line for each item. */
export function csvReport({ items }: BatchReport): string {
  const lines = items.map((item) => [
    ...COLUMNS.map((column) => String(item[column] ?? '')),
    visibleLines(reasonsOf(item).join('; ')),
    item.changed ?? (item.cut ? CUT : ''),
  ]);
  return csvLines([[...COLUMNS, 'reasons', 'changed'], ...lines]);
}

/** Lines of cells as CSV (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe before it. */
function csvLines(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) || harmless !== harmless.trim() ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

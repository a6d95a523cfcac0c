import { visibleLines } from '../contract/json/visible-text.ts';
import { type Reported, reasonsOf } from './reported.ts';

const HEADER = [
  'n',
  'name',
  'target',
  'verdict',
  'outcome',
  'tookMs',
  'address',
  'code',
  'mockId',
  'reasons',
  'changed',
];
const CUT = '(too large to be kept)';
/** A spreadsheet runs text that begins like this as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** One line for each item. */
export function csvReport({ items }: Reported): string {
  const lines = items.map((item) => {
    const { n, name, target, verdict, outcome, tookMs, address, code, mockId, changed, cut } = item;
    const texts = [
      name,
      target,
      verdict,
      outcome,
      tookMs,
      address,
      code,
      mockId,
      visibleLines(reasonsOf(item).join('; ')),
    ];
    const data = changed ?? (cut ? CUT : '');
    return [String(n), ...texts.map((value) => (value === null ? '' : String(value))), data];
  });
  return csvLines([HEADER, ...lines]);
}

/** Lines of cells as CSV (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe before it. */
function csvLines(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(text: string): string {
  const harmless = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) || harmless !== harmless.trim() ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

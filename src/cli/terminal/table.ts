import { visible } from '../../shared/contract/json/visible-text.ts';

/** Rows in columns as wide as they need to be. */
export function table(headings: string[], unsafe: string[][]): string {
  const rows = unsafe.map((cells) => cells.map(visible)); // addresses and lanes are what clients call themselves
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [headings, ...rows].map((cells) => `${line(cells)}\n`).join('');
}

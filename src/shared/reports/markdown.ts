import { changeGroups } from '../conclusions/words.ts';
import type { BatchReport } from '../contract/batches.ts';
import { visible } from '../contract/json/visible-text.ts';
import { isBad, verdicts } from '../contract/verdict.ts';
import { reasonsOf } from './reported.ts';

const MAX_LISTED = 100;

/** A summary for a pull request: the counts by target, then what changed or failed. */
export function markdownReport({ targets, counts: total, items }: BatchReport): string {
  const shown = verdicts.filter((verdict) => total[verdict] > 0);
  const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |\n`;
  const rows = targets.map(({ target, counts }) => row([cell(target), ...shown.map((verdict) => counts[verdict])]));
  const table = `${row(['target', ...shown])}${row(['---', ...shown.map(() => '---:')])}${rows.join('')}`;
  const groups = changeGroups(items).map(
    ({ what, parting, items: [first, ...rest] }) =>
      `- **${rest.length + 1} changed**: ${cell(what.join(', '))}${parting ? `, first at #${parting.id} ${cell(parting.name)}` : ''}, such as ${cell(first?.name ?? '')}\n`,
  );
  const bad = items.filter(({ verdict }) => isBad(verdict) && verdict !== 'changed');
  const listed = bad.slice(0, MAX_LISTED).map((item) => {
    const reasons = reasonsOf(item).map((reason) => `  - ${cell(reason)}\n`);
    return `- **${cell(item.name)}** on ${cell(item.target)}: ${item.verdict}\n${reasons.join('')}`;
  });
  const rest = bad.length > MAX_LISTED ? `\nand ${bad.length - MAX_LISTED} more\n` : '';
  return `${table}${groups.length > 0 ? `\n${groups.join('')}` : ''}${listed.length > 0 ? `\n${listed.join('')}` : ''}${rest}`;
}

/** Text that means nothing to Markdown or HTML, in one line. */
export function cell(text: string): string {
  return visible(text.replace(/[ \t\r\n]+/g, ' ')).replace(/[\\`*_{}[\]<>|#~!&]/g, (char) => `\\${char}`);
}

import { notCheckedLines } from '../../shared/conclusions/words.ts';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { isBad } from '../../shared/contract/verdict.ts';
import { differences } from '../../shared/reasons/remarks.ts';
import { reasonsOf } from '../../shared/reports/reported.ts';
import type { Suite } from './suite.ts';

type Item = BatchReport['items'][number];

/** Items that are a reason not to release. */
export function badItems({ items }: Pick<BatchReport, 'items'>): Item[] {
  return items.filter(({ verdict }) => isBad(verdict));
}

/** One line for each item that did not pass, each with what differs below it. */
export function failureLines(suite: Suite, report: BatchReport): string[] {
  return report.items
    .filter(({ verdict }) => isBad(verdict) || verdict === 'not-checked')
    .flatMap((item) => {
      const head = `${item.verdict.toUpperCase()}  ${placeOf(suite, item)}${item.name}  (${item.target})`;
      return [head, ...detailsOf(item)];
    });
}

function detailsOf(item: Item): string[] {
  const reasons = reasonsOf({ ...item, differences: [], notChecked: [] });
  return [
    ...reasons.map((reason) => `    ${reason}`),
    ...item.differences.flatMap(diffOf),
    ...notCheckedLines(item.notChecked).map((line) => `    ${line}`),
  ];
}

function diffOf(difference: Item['differences'][number]): string[] {
  const { path, expected, actual, how } = difference;
  const lines = [
    ...(expected === null ? [] : [`      - expected  ${expected}`]),
    ...(actual === null ? [] : [`      + found     ${actual}`]),
  ];
  return [`    ${path} ${differences[how]}`, ...lines];
}

/** Annotations that GitHub shows beside the lines of a pull request. */
export function githubLines(suite: Suite, report: BatchReport): string[] {
  return badItems(report).map((item) => {
    const file = suite.origin.kind === 'file' ? `file=${property(suite.origin.path)},line=${item.line ?? 1},` : '';
    const text = reasonsOf(item).join('\n') || item.verdict;
    return `::error ${file}title=${property(`${item.name} (${item.target})`)}::${message(text)}`;
  });
}

function placeOf({ origin }: Suite, { line }: Item): string {
  return origin.kind === 'file' ? `${origin.path}${line === null ? '' : `:${line}`}  ` : '';
}

const message = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const property = (text: string) => message(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

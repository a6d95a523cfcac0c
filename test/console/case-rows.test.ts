import { describe, expect, test } from 'vitest';
import type { Item } from '../../src/console/api/batch-items.ts';
import type { Verdict } from '../../src/console/api/batches.ts';
import {
  answersOf,
  columnValues,
  decidingNodes,
  filterRows,
  inputColumns,
  noRowFilter,
  rowsOf,
  sinceBefore,
  withBefore,
  withRepeated,
  withSaved,
} from '../../src/console/cases/case-rows.ts';

const targets = ['all', 'lane:beta'];
const item = (n: number, name: string, verdict: Verdict, more: Partial<Item> = {}): Item => ({
  ...{ n, name, verdict, target: targets[(n - 1) % 2] ?? '', outcome: 'TRUE', address: 'vm_1', code: null },
  ...{ mayHaveRun: true, error: null, tookMs: n, mockId: `run-${n}`, rules: null },
  ...{
    input: null,
    expected: null,
    decidedBy: null,
    parting: null,
    of: null,
    differences: [],
    notChecked: [],
    ...more,
  },
});
const items = [
  ...[item(1, 'a', 'passed'), item(2, 'a', 'passed')],
  ...[item(3, 'b', 'passed'), item(4, 'b', 'failed')],
  ...[
    item(5, 'c', 'unanswered'),
    item(6, 'c', 'unanswered', {
      tookMs: 900,
      error: { error: 'nobody picked it up', reason: null, params: {}, mayHaveRun: false },
    }),
  ],
];
const rows = rowsOf({ batchId: 'one', targets, items });
const names = (of: readonly { name: string }[]) => of.map(({ name }) => name);

describe('the rows of a batch', () => {
  test('are one for each case, with a cell for each target', () => {
    expect(rows.map(({ cells }) => cells.map((cell) => cell?.item.n))).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
  });

  test('are ordered by the worst of them, and otherwise as they were given', () => {
    expect(names(filterRows(rows, noRowFilter))).toEqual(['c', 'b', 'a']);
    expect(names(filterRows(rows, { ...noRowFilter, order: 'given' }))).toEqual(['a', 'b', 'c']);
    expect(names(filterRows(rows, { ...noRowFilter, order: 'slowest' }))).toEqual(['c', 'b', 'a']);
  });

  test('are found by their name, their error, and their verdict on any target', () => {
    expect(names(filterRows(rows, { ...noRowFilter, text: 'picked NOBODY' }))).toEqual(['c']);
    expect(names(filterRows(rows, { ...noRowFilter, answer: 'failed' }))).toEqual(['b']);
  });

  test('are found by a value of their input, where a number is a whole one, and by the node that decided', () => {
    const node = { id: '4', name: 'coupon of 20' };
    const found = rowsOf({
      ...{ batchId: 'one', targets: ['all'] },
      items: [
        item(1, 'a', 'passed', { input: '{"uid":42}', decidedBy: node }),
        item(2, 'b', 'passed', { input: '{"uid":420,"city":"Berlin"}', decidedBy: node }),
        item(3, 'c', 'passed', { input: '{"uid":7}', decidedBy: { id: '2', name: 'spent 100' } }),
      ],
    });
    expect(names(filterRows(found, { ...noRowFilter, text: '42' }))).toEqual(['a']);
    expect(names(filterRows(found, { ...noRowFilter, text: 'berlin 420' }))).toEqual(['b']);
    expect(names(filterRows(found, { ...noRowFilter, decidedBy: '2' }))).toEqual(['c']);
    expect(decidingNodes(found)).toEqual([
      { ...node, runs: 2 },
      { id: '2', name: 'spent 100', runs: 1 },
    ]);
    expect(inputColumns(found, [])).toEqual(['uid']);
    expect(found.map((row) => columnValues(row, ['uid', 'city']))).toEqual([
      ['42', ''],
      ['420', '"Berlin"'],
      ['7', ''],
    ]);
  });

  test('are found by what the rule came to, which is counted', () => {
    const mixed = rowsOf({
      ...{ batchId: 'one', targets },
      items: [
        ...[item(1, 'a', 'ran', { outcome: 'FALSE' }), item(2, 'a', 'ran')],
        ...[item(3, 'b', 'ran'), item(4, 'b', 'unanswered', { outcome: null })],
      ],
    });
    expect(answersOf(mixed).map(({ id, runs }) => [id, runs])).toEqual([
      ['unanswered', 1],
      ['TRUE', 2],
      ['FALSE', 1],
    ]);
    expect(names(filterRows(mixed, { ...noRowFilter, answer: 'FALSE' }))).toEqual(['a']);
    expect(names(filterRows(mixed, { ...noRowFilter, text: 'false' }))).toEqual(['a']);
  });

  test('made again are counted by what changed, and where', () => {
    const at = { id: '2', name: 'spent 100' };
    const changed = (n: number, before: string, after: string) =>
      item(n, `r${n}`, 'changed', {
        ...{ of: `r${n}`, parting: at },
        differences: [{ path: 'data.coupon.amount', expected: before, actual: after, how: 'changed' }],
      });
    const again = rowsOf({
      ...{ batchId: 'one', targets: ['all'] },
      items: [changed(1, '20', '25'), changed(2, '20', '30'), item(3, 'r3', 'same')],
    });
    const [first, second] = answersOf(again);
    expect(first).toMatchObject({ runs: 2, what: ['coupon.amount (2 different changes)'], at, pair: ['r1', 'run-1'] });
    expect(second).toMatchObject({ runs: 1, verdict: 'same', pair: null });
    expect(names(filterRows(again, { ...noRowFilter, answer: first?.id ?? '' }))).toEqual(['r1', 'r2']);
  });

  test('have the last verdict of each case when a part of them was run again', () => {
    const again = rowsOf({ batchId: 'two', targets, items: [item(1, 'b', 'passed'), item(2, 'b', 'passed')] });
    const both = withRepeated(rows, again);
    expect(names(both)).toEqual(['a', 'b', 'c']);
    expect(both[1]?.cells.map((cell) => [cell?.batchId, cell?.item.verdict])).toEqual([
      ['two', 'passed'],
      ['two', 'passed'],
    ]);
  });

  test('of which two have one name are not laid over each other', () => {
    const twins = rowsOf({ batchId: 'one', targets: ['all'], items: [item(1, 'a', 'passed'), item(2, 'a', 'failed')] });
    expect(withRepeated(twins, rows)).toEqual(rows);
  });

  test('stand before the saved cases that were not run', () => {
    const saved = ['d', 'a'].map((name) => ({ name, input: '{}', ts: null, tags: [], skip: false, expect: null }));
    const all = withSaved(rows, saved, 2);
    expect(names(all)).toEqual(['a', 'b', 'c', 'd']);
    expect(all.map((row) => row.saved?.name ?? null)).toEqual(['a', null, null, 'd']);
    expect(names(filterRows(all, { ...noRowFilter, answer: 'not-run' }))).toEqual(['d']);
  });
});

test('what changed since the batch before is counted by case and target; targets may stand in another order', () => {
  const before = [
    item(1, 'a', 'passed', { target: 'lane:beta' }),
    item(2, 'a', 'failed', { target: 'all' }),
    item(3, 'b', 'passed', { target: 'lane:beta' }),
    item(4, 'b', 'passed', { target: 'all' }),
  ];
  const compared = withBefore(rows, targets, { batchId: 'zero', targets: ['lane:beta', 'all'], items: before });
  expect(sinceBefore(compared)).toEqual({ worse: 1, better: 1, added: 2 });
});

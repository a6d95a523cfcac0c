import { describe, expect, test } from 'vitest';
import { type Listed, readExecution } from '../../src/console/api/executions.ts';
import { groupComparisons } from '../../src/console/run/history/found-words.ts';
import {
  noFilter,
  printFilter,
  printSearch,
  readFilter,
  searchOf,
  splitSearch,
} from '../../src/console/run/history/history-filter.ts';
import { changedInput, inputInShort } from '../../src/console/run/input-words.ts';
import type { Outcome } from '../../src/shared/contract/job.ts';
import { toldExecution } from '../support/told-execution.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR = 3_600_000;

type Run = { input?: string; target?: string; outcome?: Outcome };

function run(mockId: string, at: number, { input = '{}', target = 'all', outcome = 'TRUE' }: Run = {}): Listed {
  const history = [{ state: 'queued' as const, at }];
  return readExecution(toldExecution({ mockId, target, outcome, history, input }));
}
const ids = (runs: readonly Listed[]) => runs.map(({ mockId }) => mockId);

describe('a search for an earlier run', () => {
  const search = (filter: Partial<typeof noFilter>, zone = 'UTC') => searchOf({ ...noFilter, ...filter }, NOW, zone);

  test('is none while nothing is chosen', () => {
    expect(search({ text: '  ' })).toBeNull();
  });

  test('has conditions and words', () => {
    expect(search({ text: 'uid=42 Lyon  order.total>=9.5 a!=1' })).toMatchObject({
      text: 'Lyon',
      where: ['uid=42', 'order.total>=9.5', 'a!=1'],
    });
  });

  test('by who asked and other members of the record; a text in quotes is one word', () => {
    const text = 'by:ann address:"orders 1" name="Ann Lee" note="a b:c" when:10:30';
    expect(search({ text })).toMatchObject({
      ...{ by: 'ann', address: 'orders 1', text: 'when:10:30' },
      where: ['name="Ann Lee"', 'note="a b:c"'],
    });
  });

  test.each([
    ['uid=42', [], 'uid=42'],
    ['uid=42 ', ['uid=42'], ''],
    ['uid=42 Ly', ['uid=42'], 'Ly'],
    ['Lyon uid=42 by:ann ', ['uid=42', 'by:ann'], 'Lyon '],
    ['Lyon  and ', [], 'Lyon  and '],
    ['name="Ann Le', [], 'name="Ann Le'],
    ['name="Ann Lee" ', ['name="Ann Lee"'], ''],
    ['uid = 42 ', ['uid=42'], ''],
    ['uid== 42 cost >=9 ', ['uid=42', 'cost>=9'], ''],
    ['Lyon uid = ', [], 'Lyon uid = '],
    ['uid = city=Rome ', ['city=Rome'], 'uid = '],
    ['note != "a b" ', ['note!="a b"'], ''],
  ])('of “%s” has the chips %j beside “%s”', (text, conditions, draft) => {
    expect(splitSearch(text)).toEqual({ conditions, draft });
    expect(splitSearch(printSearch({ conditions, draft }))).toEqual({ conditions, draft });
  });

  test('by result and by the reader’s day', () => {
    const midnight = Date.UTC(2026, 10, 21);
    expect(search({ outcome: 'FALSE' })).toMatchObject({ outcome: 'FALSE', from: null, to: null });
    expect(search({ time: 'yesterday' })).toMatchObject({ from: String(midnight - 24 * HOUR), to: String(midnight) });
    const inAuckland = Date.parse('2026-11-22T00:00:00+13:00');
    expect(search({ time: 'today' }, 'Pacific/Auckland')).toMatchObject({ from: String(inAuckland) });
    expect(search({ text: 'from:2026-11-22' }, 'Pacific/Auckland')).toMatchObject({ from: String(inAuckland) });
    expect(search({ time: 'hour' })).toMatchObject({ from: String(NOW - HOUR), to: null });
  });
});

test('a filter comes back from the address as it was, and one that lets everything through is not in it', () => {
  const filter = { text: 'uid=42 by:ann & Köln', outcome: 'FALSE', time: 'yesterday', everyRule: true } as const;
  expect(readFilter(printFilter(filter))).toEqual(filter);
  expect(printFilter(noFilter)).toBeNull();
  expect(readFilter(null)).toBe(noFilter);
  expect(readFilter('outcome=nonsense&time=any')).toBe(noFilter);
});

test('an input is told in short, and what changed in it', () => {
  expect(inputInShort('{"cost":99.50,"city":"Lyon"}', 90)).toBe('cost 99.50, city Lyon');
  expect(inputInShort('{"city":"Lyon"}', 6)).toBe('city …');
  expect(changedInput('{"cost":100}', '{"cost":99.50}')).toBe('cost 100 → 99.50');
  expect(changedInput('{"cost":100}', '{"cost":100}')).toBeNull();
  expect(changedInput(null, '{"cost":100}')).toBeNull();
});

test('runs belong to a comparison by the id that it gave them, and by nothing else', () => {
  const each = (id: string, comparisonId: string | null) => ({ ...run(id, 1000), comparisonId });
  const lines = groupComparisons([
    each('d', 'one'),
    each('c', null),
    each('b', 'one'),
    each('a', 'two'),
    each('z', null),
  ]);
  const shown = lines.map((line) => (line.kind === 'run' ? line.run.mockId : ids(line.runs)));
  expect(shown).toEqual([['d', 'b'], 'c', 'a', 'z']);
});

import { describe, expect, test } from 'vitest';
import type { Item } from '../../src/console/api/batch-items.ts';
import { releasesOf } from '../../src/console/cases/case-rows.ts';

describe('the releases between two batches', () => {
  const item = (released: string | null, digest: string | null): Item => ({
    ...{ n: 1, name: 'a', target: 'all', verdict: 'passed', outcome: 'TRUE', address: null, code: null },
    ...{
      mayHaveRun: true,
      error: null,
      tookMs: 1,
      mockId: 'm',
      ...{ input: null, expected: null, decidedBy: null, parting: null, of: null, differences: [], notChecked: [] },
      rules: { released, loaded: null, digest },
    },
  });

  test('are named where the rules are others, and only there', () => {
    expect(releasesOf([item('4', 'a')], [item('5', 'b'), item('5', 'b')])).toEqual({ before: '4', now: '5' });
    expect(releasesOf([item('4', 'a')], [item('4', 'a'), item('5', 'b')])).toEqual({ before: '4', now: '4, 5' });
    expect(releasesOf([item('4', 'a')], [item('5', 'a')])).toBeNull();
    expect(releasesOf([item('4', null)], [item('5', 'b')])).toBeNull();
    expect(releasesOf([], [item('5', 'b')])).toBeNull();
  });
});

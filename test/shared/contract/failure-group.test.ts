import { expect, test } from 'vitest';
import { failureGroupOf } from '../../../src/shared/contract/endings/failure-group.ts';

const failed = {
  state: 'failed',
  ending: { code: 'engine-failed', reason: null, params: {} },
  address: 'host/demo/abc',
} as const;

test('failures that differ in client, ids, quoted values and numbers only are one group', () => {
  const error = 'host/demo/abc: order 42 of "Ann" was declined at 12.5% (7fc57fa1-ce24-409c-a8aa-155e7bca00d5)';
  expect(failureGroupOf({ ...failed, error })).toEqual({
    code: 'engine-failed',
    reason: null,
    params: {},
    sentence: '<client>: order <number> of <value> was declined at <number>% (<id>)',
  });
});

test('endings without an answer are one group by their reason and its cause', () => {
  const ending = (address: string, problem: string) => ({
    ...{ code: 'invalid-result', reason: 'result-unusable' },
    params: { address, problem, bytes: 17 },
  });
  const group = (address: string, problem: string) =>
    failureGroupOf({ state: 'failed', address, ending: ending(address, problem) });
  expect(group('shop-1', 'result-cut')).toEqual(group('shop-2', 'result-cut'));
  expect(group('shop-1', 'result-cut')).not.toEqual(group('shop-1', 'result-empty'));
});

test('a long error is compared by its beginning', () => {
  const error = '“'.repeat(1_000_000);
  expect(failureGroupOf({ ...failed, error })?.sentence).toHaveLength(2001);
});

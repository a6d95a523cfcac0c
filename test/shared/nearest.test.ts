import { expect, test } from 'vitest';
import { nearest } from '../../src/shared/contract/nearest.ts';

test.each([
  ['strikt', 'strict'],
  ['GiveCupon', 'GiveCoupon'],
  ['heartBeatMs', 'heartbeatMs'],
  ['mim', 'min'],
  ['leafs', 'leaves'],
  ['rule-dat', 'rule-data'],
  ['ap', 'app'],
])('%s is meant to be %s', (written, meant) => {
  expect(nearest(written, ['other', meant])).toBe(meant);
});

test.each([
  ['nope', 'home'],
  ['Z', 'A'],
  ['q', 'ts'],
  ['data', 'lane'],
  ['x', 'app'],
  ['tmp', 'opt'],
])('%s is nothing like %s', (written, other) => {
  expect(nearest(written, [other])).toBeUndefined();
});

import { expect, test } from 'vitest';
import { decisionOf } from '../../../src/shared/contract/endings/decision.ts';

const ended = (process: string) => decisionOf({ key: 'process', kind: 'string', raw: JSON.stringify(process) });

test('what a rule came to is the last entry of its trace, with inversion done', () => {
  expect(ended('[2:SpendThreshold:T:0][3:GiveCoupon:F:0][1:And:F:12]')).toBe('FALSE');
  expect(ended('[121:AgeFlow:T:0][166:And:T-I:5]')).toBe('FALSE');
  expect(ended('[121:AgeFlow:T:0][166:And:F-I:5]')).toBe('TRUE');
  expect(ended('[1:None:N-I:-1]')).toBe('NONE');
});

test('a root that did not run has a decision all the same', () => {
  expect(ended('[133:AgeFlow:O]')).toBe('NONE');
  expect(ended('[133:AgeFlow:O-I:0]')).toBe('NONE');
  expect(ended('[26:AgeFlow:F:0][25:AgeFlow:R-F]')).toBe('FALSE');
});

test('a trace that does not say what the rule came to has no decision', () => {
  expect(ended('')).toBeNull();
  expect(ended('[120:BoomFlow:S:0]')).toBeNull();
  expect(ended('whatever a client writes')).toBeNull();
  expect(decisionOf(undefined)).toBeNull();
  expect(decisionOf({ key: 'process', kind: 'object', raw: '{}' })).toBeNull();
});

import { expect, test } from 'vitest';
import { outcomeOf } from '../../../src/shared/contract/endings/outcome-of-rule.ts';

const member = (key: string, raw: string) => ({ key, kind: 'string' as const, raw });
const ended = (process: string, outcome?: string) =>
  outcomeOf(
    member('process', JSON.stringify(process)),
    outcome === undefined ? undefined : member('outcome', JSON.stringify(outcome)),
  );

test('what a rule came to is the last entry of its trace, with inversion done', () => {
  expect(ended('[2:SpendThreshold:T:0][3:GiveCoupon:F:0][1:And:F:12]')).toBe('FALSE');
  expect(ended('[121:AgeFlow:T:0][166:And:T-I:5]')).toBe('FALSE');
  expect(ended('[121:AgeFlow:T:0][166:And:F-I:5]')).toBe('TRUE');
  expect(ended('[1:None:N-I:-1]')).toBe('NONE');
});

test('a root that did not run has an outcome all the same', () => {
  expect(ended('[133:AgeFlow:O]')).toBe('NONE');
  expect(ended('[133:AgeFlow:O-I:0]')).toBe('NONE');
  expect(ended('[26:AgeFlow:F:0][25:AgeFlow:R-F]')).toBe('FALSE');
});

test('a trace that does not say what the rule came to has no outcome', () => {
  expect(ended('')).toBeNull();
  expect(ended('[120:BoomFlow:S:0]')).toBeNull();
  expect(ended('whatever a client writes')).toBeNull();
  expect(outcomeOf(undefined, undefined)).toBeNull();
  expect(outcomeOf({ key: 'process', kind: 'object', raw: '{}' }, undefined)).toBeNull();
});

test('what the client says itself counts where a node in parallel ended after the rule', () => {
  expect(ended('[2:Compared:T:0][1:P-Any:T:0][3:LooksUp:N:4]', 'TRUE')).toBe('TRUE');
  expect(ended('[2:Compared:T:0][1:P-Any:T:0]', 'whatever')).toBe('TRUE');
});

test('what the client says itself counts without a trace, and beside one that is a list', () => {
  expect(outcomeOf(undefined, member('outcome', '"FALSE"'))).toBe('FALSE');
  expect(outcomeOf({ key: 'process', kind: 'array', raw: '[]' }, member('outcome', '"TRUE"'))).toBe('TRUE');
});

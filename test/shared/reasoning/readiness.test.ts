import { expect, test } from 'vitest';
import { noCounts } from '../../../src/shared/cases/batch.ts';
import { findingsOf, readinessOf } from '../../../src/shared/reasoning/readiness.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

const root = node(1, 'And', [leaf(2), leaf(3)]);
const last = {
  createdAt: 20,
  counts: { ...noCounts(), passed: 2 },
  onDigests: new Set(['d']),
  reached: new Set(['1', '2', '3']),
};
const known = {
  ...{ root, digest: 'd', circle: null, windowEndsAt: null, missingClasses: [], target: 'lane:beta' },
  ...{ casesChangedAt: 10, last },
};
const NOW = 1000;

const codesOf = (change: object) => {
  const findings = findingsOf({ ...known, ...change }, NOW);
  return [readinessOf(findings), ...findings.map(({ code }) => code)];
};

test.each<[string, object, string[]]>([
  ['all is well', {}, ['can-ship']],
  ['its cases never ran', { last: null }, ['not-tested', 'never-run']],
  ['it has no cases', { casesChangedAt: null }, ['not-tested', 'no-cases']],
  ['all are skipped', { last: { ...last, counts: { ...noCounts(), skipped: 3 } } }, ['not-tested', 'no-cases']],
  ['one ran on other rules', { last: { ...last, onDigests: new Set(['d', 'e']) } }, ['not-tested', 'other-rules']],
  ['of one nobody knows', { last: { ...last, onDigests: new Set(['d', null]) } }, ['not-tested', 'other-rules']],
  ['the cases changed', { casesChangedAt: 21 }, ['not-tested', 'other-cases']],
  ['one failed', { last: { ...last, counts: { ...noCounts(), failed: 1 } } }, ['cannot-ship', 'failed']],
  ['one has no answer', { last: { ...last, counts: { ...noCounts(), unanswered: 1 } } }, ['cannot-ship', 'unanswered']],
  ['they expect nothing', { last: { ...last, counts: { ...noCounts(), ran: 2 } } }, ['not-tested', 'nothing-expected']],
  [
    'one could not be checked',
    { last: { ...last, counts: { ...noCounts(), 'not-checked': 1 } } },
    ['not-tested', 'not-checked'],
  ],
  ['no case reaches a node', { last: { ...last, reached: new Set(['1', '2']) } }, ['can-ship', 'not-reached']],
  ['its time is over', { windowEndsAt: 999 }, ['can-ship', 'rule-over']],
  ['nobody says which classes it has', { missingClasses: null }, ['can-ship', 'classes-unknown']],
  [
    'a class is missing, and it was not tested',
    { missingClasses: ['a.B'], last: null },
    ['cannot-ship', 'missing-class', 'never-run'],
  ],
  ['it goes in a circle', { circle: ['1', '2'] }, ['cannot-ship', 'circle']],
])('a rule where %s', (_, change, expected) => {
  expect(codesOf(change)).toEqual(expected);
});

test.each([
  ['int', '5', true],
  ['int', '"5"', true],
  ['int', '5.5', false],
  ['double', '1e3', true],
  ['boolean', '"yes"', false],
  ['list', '"a"', false],
  ['java.util.Date', '"a"', true],
])('a setting of type %s that is %s', (type, value, fits) => {
  const settings = [{ field: 'f', name: null, type, value, configured: true }];
  const codes = codesOf({ root: node(1, 'And', [leaf(2, { settings }), leaf(3)]) });
  expect(codes.includes('wrong-setting')).toBe(!fits);
});

test('a node that cannot be read is told with the reason and its parameters', () => {
  const why = { reason: 'not-json', params: { fault: 'json-early', length: 8 }, message: 'is not JSON' };
  const unusable = { ...leaf(3), state: 'unusable' as const, problems: [why] };
  const [finding] = findingsOf({ ...known, root: node(1, 'And', [leaf(2), unusable]) }, NOW);
  expect(finding).toMatchObject({
    parameters: { node: '3', reason: 'not-json', fault: 'json-early', length: 8 },
    message: 'Node 3 cannot be read: is not JSON: it ends too early, after 8 characters.',
  });
});

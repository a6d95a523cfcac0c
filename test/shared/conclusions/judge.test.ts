import { describe, expect, it } from 'vitest';
import type { Expect } from '../../../src/shared/cases/case.ts';
import { parsePath } from '../../../src/shared/cases/path.ts';
import { conclusionOf, factsOfTrees } from '../../../src/shared/conclusions/conclusion.ts';
import { judge } from '../../../src/shared/conclusions/judge.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

const process = '[2:spent: T:1][x:T:0]] or more:T:0][4:coupon:F-I:0][7:points:T:0][7:points:F:0][1:campaign:T:2]';
type Told = Record<string, unknown>;
function run(wanted: Expect | null, members: Told = {}, { success = true, tookMs = 12 } = {}) {
  const answer = { mockId: 'm', success, 'the service': { coupon: { amount: 20 } }, process, error: null, ...members };
  const now = conclusionOf({ input: '{}', body: JSON.stringify(answer), success });
  return judge(wanted, now, { ignore: [], tookMs });
}
const paths = (wanted: Expect, ...rest: [Told?, { success?: boolean; tookMs?: number }?]) =>
  run(wanted, ...rest).differences.map(({ path }) => path);

describe('a run', () => {
  it('of which nothing is expected ran unless it failed: it did not pass', () => {
    expect(run(null).verdict).toBe('ran');
    expect(run({}).verdict).toBe('passed');
    expect(run(null, { error: 'boom' }).verdict).toBe('error');
    expect(run(null, {}, { success: false }).verdict).toBe('error');
  });
  it('is judged by every occurrence of a node, inverted where it says so', () => {
    expect(paths({ nodes: { 2: 'TRUE', 4: 'TRUE', 9: 'NOT_REACHED' } })).toEqual([]);
    expect(paths({ nodes: { 7: 'TRUE', 9: 'TRUE', 1: 'NOT_REACHED' } })).toEqual(['nodes.1', 'nodes.7', 'nodes.9']);
  });
  it('is not checked where the trace does not say', () => {
    const untold = { process: 'what?' };
    for (const wanted of [{ nodes: { 9: 'NOT_REACHED' } }, { outcome: 'TRUE' }] satisfies Expect[])
      expect(run(wanted, untold)).toMatchObject({ verdict: 'not-checked', notChecked: [{ why: 'not-told' }] });
    expect(run({ outcome: 'TRUE', data: '{"coupon":1}' }, untold).verdict).toBe('failed');
  });
  it('is judged by the nodes that acted, in their order, as far as that can be told', () => {
    const acted = '[3:Compared:F:0][8:Decline:T:0][9:Mail:T:0][1:Any:T:0]';
    const root = node(1, 'Any', [leaf(3), node(8, 'LeafResult'), node(9, 'LeafResult')]);
    const verdictOf = (actions: string[], members: Told = {}, facts = factsOfTrees([root])) => {
      const answer = { mockId: 'm', success: true, 'the service': {}, process: acted, error: null, ...members };
      const now = conclusionOf({ input: '{}', body: JSON.stringify(answer), success: true, facts });
      return judge({ actions }, now, { ignore: [], tookMs: 1 });
    };
    expect(verdictOf(['8', '9']).verdict).toBe('passed');
    expect(verdictOf(['9', '8']).differences).toMatchObject([
      { path: 'actions', expected: '[9, 8]', actual: '[8, 9]' },
    ]);
    expect(verdictOf([]).verdict).toBe('failed');
    expect(verdictOf(['8', '9'], {}, factsOfTrees([])).verdict).toBe('not-checked');
    const dry = { dryRun: true, effects: { stubbed: [], assumed: [8, 9], unsure: [] } };
    expect(verdictOf(['9'], dry).verdict).toBe('failed');
    expect(verdictOf(['8'], dry).verdict).toBe('not-checked');
  });
  it('is judged by data, absence, time and outcome', () => {
    expect(
      paths({ outcome: 'FALSE', data: '{"coupon":{"amount":21}}', absent: ['coupon.amount', 'x'], withinMs: 11 }),
    ).toEqual(['outcome', 'data.coupon.amount', 'data.coupon.amount', 'withinMs']);
  });
  it('names a difference by a path that can be read again, however its key is written', () => {
    const members = { 'the service': { 'a.b': 1, 'c d': { e: 2 } } };
    const found = paths({ data: '{"a.b":2}', absent: ['["c d"].e'] }, members);
    expect(found).toEqual(['data["a.b"]', 'data["c d"].e']);
    expect(found.map(parsePath)).toEqual([
      ['data', 'a.b'],
      ['data', 'c d', 'e'],
    ]);
  });
  it('passes with an error that was expected, and fails with another, or without one', () => {
    expect(run({ error: 'insuff' }, { error: 'insufficient money' }).verdict).toBe('passed');
    expect(run({ outcome: 'ERROR' }, {}, { success: false }).verdict).toBe('passed');
    expect(run({ error: 'insuff' }, { error: 'boom' }).verdict).toBe('failed');
    expect(run({ error: 'insuff' }).verdict).toBe('failed');
  });
  it('has an unexpected error rather than differences', () => {
    expect(run({ data: '{"a":1}' }, { error: 'boom' }).verdict).toBe('error');
  });
});

describe('a dry run that did not call a node', () => {
  const dry = {
    process: '[2:A:F:0][4:Pay:T:0][5:B:F:0][1:Any:F:0]',
    effects: { assumed: [4], stubbed: [], unsure: [] },
  };
  it('is never failed by what follows from that', () => {
    const behind: Expect[] = [
      { outcome: 'TRUE' },
      { data: '{"paid":1}' },
      { absent: ['coupon'] },
      { nodes: { 5: 'TRUE' } },
      { error: 'x' },
    ];
    for (const wanted of behind)
      expect(run(wanted, dry)).toMatchObject({
        verdict: 'not-checked',
        differences: [],
        notChecked: [{ why: 'not-called', nodes: ['4'] }],
      });
    expect(run(null, { ...dry, error: 'no payment' }).verdict).toBe('not-checked');
  });
  it('is failed by what came before it', () => {
    expect(run({ nodes: { 2: 'TRUE' } }, dry)).toMatchObject({ verdict: 'failed', differences: [{ path: 'nodes.2' }] });
    expect(run({ nodes: { 4: 'NOT_REACHED' } }, dry).verdict).toBe('failed');
  });
  it('passes where it came to what is expected before that', () => {
    expect(run({ nodes: { 2: 'FALSE' } }, dry).verdict).toBe('passed');
  });
  it('is not checked where it only came to what is expected by what was made up', () => {
    const madeUp: Expect[] = [
      { outcome: 'FALSE' },
      { data: '{"coupon":{"amount":20}}' },
      { absent: ['paid'] },
      { actions: ['4'] },
      ...(['TRUE', 'FALSE'] as const).map((state): Expect => ({ nodes: { 4: state } })),
      { nodes: { 5: 'FALSE' } },
      { nodes: { 9: 'NOT_REACHED' } },
    ];
    for (const wanted of madeUp)
      expect(run(wanted, dry), JSON.stringify(wanted)).toMatchObject({ verdict: 'not-checked', differences: [] });
  });
});

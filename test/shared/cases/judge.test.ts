import { describe, expect, it } from 'vitest';
import type { Expect } from '../../../src/shared/cases/case.ts';
import { judge } from '../../../src/shared/cases/judging/judge.ts';

const process = '[2:spent: T:1][x:T:0]] or more:T:0][4:coupon:F-I:0][7:points:T:0][7:points:F:0][1:campaign:T:2]';
const answer = (members: Record<string, unknown> = {}) =>
  JSON.stringify({
    mockId: 'm',
    success: true,
    'the service': { coupon: { amount: 20 } },
    process,
    error: null,
    ...members,
  });
const run = (
  wanted: Expect | null,
  members: Record<string, unknown> = {},
  more: { success?: boolean; tookMs?: number } = {},
) => judge(wanted, { kind: 'answered', body: answer(members), success: true, decision: 'TRUE', tookMs: 12, ...more });
const paths = (wanted: Expect, ...rest: [Record<string, unknown>?, { success?: boolean; tookMs?: number }?]) =>
  run(wanted, ...rest).differences.map(({ path }) => path);

describe('a run', () => {
  it('passes without an expectation unless it failed', () => {
    expect(run(null).verdict).toBe('passed');
    expect(run(null, { error: 'boom' }).verdict).toBe('error');
    expect(run(null, {}, { success: false })).toMatchObject({ verdict: 'error', outcome: 'ERROR' });
  });
  it('is judged by every occurrence of a node, inverted where it says so', () => {
    expect(paths({ nodes: { 2: 'TRUE', 4: 'TRUE', 9: 'NOT_REACHED' } })).toEqual([]);
    expect(paths({ nodes: { 7: 'TRUE', 9: 'TRUE', 1: 'NOT_REACHED' } })).toEqual(['nodes.1', 'nodes.7', 'nodes.9']);
  });
  it('fails where the trace does not say', () => {
    expect(run({ nodes: { 9: 'NOT_REACHED' } }, { process: 'what?' })).toMatchObject({ verdict: 'failed' });
    const untold = judge(
      { outcome: 'TRUE' },
      { kind: 'answered', body: answer(), success: true, decision: null, tookMs: 1 },
    );
    expect(untold.differences[0]?.message).toContain('the trace does not say');
  });
  it('is judged by data, absence, time and outcome', () => {
    expect(
      paths({ outcome: 'FALSE', data: '{"coupon":{"amount":21}}', absent: ['coupon.amount', 'x'], withinMs: 11 }),
    ).toEqual(['outcome', 'data.coupon.amount', 'data.coupon.amount', 'withinMs']);
  });
  it('passes with an error that was expected, and fails with another, or without one', () => {
    expect(run({ error: 'insuff' }, { error: 'insufficient money' }).verdict).toBe('passed');
    expect(run({ outcome: 'ERROR' }, {}, { success: false }).verdict).toBe('passed');
    expect(run({ error: 'insuff' }, { error: 'boom' }).verdict).toBe('failed');
    expect(run({ error: 'insuff' }).verdict).toBe('failed');
  });
  it('has an unexpected error rather than differences, and no answer rather than either', () => {
    expect(run({ data: '{"a":1}' }, { error: 'boom' }).verdict).toBe('error');
    const none = judge({ data: '{"a":1}' }, { kind: 'unanswered', code: 'no-answer', error: 'silent' });
    expect(none).toMatchObject({ verdict: 'unanswered', error: 'silent', differences: [] });
  });
});

import { expect, it } from 'vitest';
import type { Finding } from '../../bench/findings.ts';
import { goalTable } from '../../bench/goal-table.ts';
import type { GoalName } from '../../bench/goals.ts';

const measured = (goal: GoalName, value: number, beside = ''): Finding => ({ kind: 'measured', goal, value, beside });

/** The lines of the table that speak of these words. */
const about = (words: string, findings: readonly Finding[]) =>
  goalTable(findings)
    .split('\n')
    .filter((line) => line.includes(words))
    .map((line) => line.replaceAll(/ {2,}/g, ' | '));

it('a goal that is reached exactly is met, whether it is a least or a most', () => {
  const table = [measured('networkFifty', 300, 'alone 458/s'), measured('networkOne', 40)];
  expect(about('50 callers', table)).toEqual([
    'over sshfs, 50 callers: calls a second | ≥ 300/s | 300/s | met | alone 458/s',
  ]);
  expect(about('instant client', table)).toEqual([
    'over sshfs, instant client, one at a time: p50 | ≤ 40 ms | 40.0 ms | met',
  ]);
});

it('a goal that is missed by less than the table shows is missed', () => {
  expect(about('÷ the floor', [measured('floorOne', 3.001)])).toEqual([expect.stringMatching(/3\.00 × \| not met$/)]);
  expect(about('4 APIs', [measured('fourApis', 89.9)])).toEqual([expect.stringMatching(/90 % \| not met$/)]);
});

it('what nobody measured is in the table with the reason, and what broke off before it could say one, too', () => {
  const leftOut: Finding = { kind: 'left-out', goal: 'networkOne', why: 'it needs root and sshfs' };
  expect(about('instant client', [leftOut])).toEqual([
    expect.stringMatching(/not measured \| it needs root and sshfs$/),
  ]);
  expect(about('50 callers', [leftOut])).toEqual([expect.stringMatching(/not measured$/)]);
});

it('calls that failed are told with the reason, and so is that none did', () => {
  expect(about('call', []).at(-1)).toBe('No call failed.');
  const failed: Finding = { kind: 'failed', what: 'ledger, 100 callers', times: 3, why: '3 × 503 overloaded' };
  expect(goalTable([failed])).toMatch(/Failed calls:\n {2}ledger, 100 callers: 3 failed: 3 × 503 overloaded$/);
});

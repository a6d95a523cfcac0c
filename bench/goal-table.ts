import type { Finding } from './findings.ts';
import { type Goal, goals } from './goals.ts';

type Row = { goal: string; measured: string; met: string; beside: string };

/** Every goal beside what was measured, and below it all calls that failed. What nobody measured is said, too. */
export function goalTable(findings: readonly Finding[]): string {
  const rows = Object.entries(goals).map(([name, goal]) => ({
    what: goal.what,
    ...rowOf(goal, lastOf(findings, name)),
  }));
  const wide = Math.max(...rows.map(({ what }) => what.length));
  const line = ({ what, goal, measured, met, beside }: Row & { what: string }) =>
    `${what.padEnd(wide)}  ${goal.padStart(9)}  ${measured.padStart(9)}  ${met.padEnd(12)}  ${beside}`.trimEnd();
  const head = line({ what: '', goal: 'goal', measured: 'measured', met: '', beside: '' });
  return [head, ...rows.map(line), '', ...failedCalls(findings)].join('\n');
}

function lastOf(findings: readonly Finding[], name: string) {
  return findings.findLast((finding) => finding.kind !== 'failed' && finding.goal === name);
}

function rowOf(goal: Goal, finding: Finding | undefined): Row {
  const { sign, least } = 'atMost' in goal ? { sign: '≤', least: goal.atMost } : { sign: '≥', least: goal.atLeast };
  const wanted = `${sign} ${least}${goal.unit}`;
  if (finding?.kind !== 'measured') {
    const why = finding?.kind === 'left-out' ? finding.why : '';
    return { goal: wanted, measured: '', met: 'not measured', beside: why };
  }
  const { value, beside } = finding;
  const met = 'atMost' in goal ? value <= goal.atMost : value >= goal.atLeast;
  return { goal: wanted, measured: `${value.toFixed(goal.digits)}${goal.unit}`, met: met ? 'met' : 'not met', beside };
}

function failedCalls(findings: readonly Finding[]): string[] {
  const failed = findings.filter((finding) => finding.kind === 'failed');
  if (failed.length === 0) return ['No call failed.'];
  return ['Failed calls:', ...failed.map(({ what, times, why }) => `  ${what}: ${times} failed: ${why}`)];
}

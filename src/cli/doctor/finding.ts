import { styleText } from 'node:util';
import { visible } from '../../shared/contract/json/visible-text.ts';
import type { Surroundings } from '../terminal/surroundings.ts';

/** A clock, and how far it is ahead of this machine's. */
export type Clock = { whose: string; aheadMs: number };

/** The result of one check. `advice`: what to do about it. `clocks`: those it read on the way. */
export type Finding = {
  check: string;
  level: 'ok' | 'warn' | 'fail';
  message: string;
  advice?: string;
  clocks?: Clock[];
  /** It may be a consequence of another fault. */
  follows?: boolean;
};

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message });
const bad = (level: 'warn' | 'fail') => (check: string, message: string, advice: string) => ({
  check,
  level,
  message,
  advice,
});
export const [warn, fail] = [bad('warn'), bad('fail')];

/** A failure that may be a consequence of another fault. */
export const following = (check: string, message: string, advice: string): Finding => ({
  ...fail(check, message, advice),
  follows: true,
});

/** A check that throws is a finding as well. */
export async function guarded(check: string, run: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [fail(check, `could not be checked: ${message}`, 'Look into this first.')];
  }
}

/** Consequences of a fault become warnings, so that one fault is one failure. */
export function firstCauses(findings: readonly Finding[]): Finding[] {
  const failed = findings.filter(({ level }) => level === 'fail');
  const cause = failed.find(({ follows }) => !follows) ?? failed[0];
  return findings.map(({ follows, ...finding }) => {
    if (!cause || !follows || finding.level !== 'fail' || finding.check === cause.check) return finding;
    const advice = `This may follow from "${cause.check}": mend that first. ${finding.advice ?? ''}`.trim();
    return { ...finding, level: 'warn', advice };
  });
}

const LABELS = { ok: ['green', 'ok  '], warn: ['yellow', 'warn'], fail: ['red', 'FAIL'] } as const;

export function lineOf({ check, level, message, advice }: Finding, stream: Surroundings['stdout']): string {
  const [color, label] = LABELS[level];
  const what = `${styleText(color, label, { stream })}  ${check.padEnd(17)} ${visible(message)}\n`;
  return advice === undefined ? what : `${what}${' '.repeat(24)}${advice}\n`;
}

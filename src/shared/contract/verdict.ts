/**
 * How a case ended on a target. Against an expectation it `passed` or `failed`; against an earlier run it is the `same`, `changed`, or `noise` if
 * that run differs from itself; where nothing was expected it `ran`. `not-checked`: a dry run or the trace cannot tell. `pending`: it has not
 * ended.
 */
export const verdicts = [
  'passed',
  'failed',
  'ran',
  'same',
  'changed',
  'not-checked',
  'noise',
  'error',
  'unanswered',
  'skipped',
  'pending',
] as const;
export type Verdict = (typeof verdicts)[number];

/** The verdicts that count as failures of a batch. */
export const isBad = (verdict: Verdict): boolean =>
  verdict === 'failed' || verdict === 'changed' || verdict === 'error' || verdict === 'unanswered';

/** The outcomes of a rule. */
export const decisionNames = ['TRUE', 'FALSE', 'NONE'] as const;

/** How a run ended: the outcome of the rule, or that it failed. */
export const outcomeNames = [...decisionNames, 'ERROR'] as const;
export type RanTo = (typeof outcomeNames)[number];

/** The states that can be expected of a node. */
export const nodeStateNames = ['TRUE', 'FALSE', 'NONE', 'ERROR', 'OUT_OF_TIME', 'REJECTED', 'NOT_REACHED'] as const;

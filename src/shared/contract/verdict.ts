import { z } from 'zod';

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
export const verdictSchema = z.enum(verdicts);
export type Verdict = z.infer<typeof verdictSchema>;

/** The verdicts that count as failures of a batch. */
export const isBad = (verdict: Verdict): boolean =>
  verdict === 'failed' || verdict === 'changed' || verdict === 'error' || verdict === 'unanswered';

/** How a run ended: the outcome of the rule, or that it failed. */
export const outcomeNames = ['TRUE', 'FALSE', 'NONE', 'ERROR'] as const;
export const ranToSchema = z.enum(outcomeNames);
export type RanTo = z.infer<typeof ranToSchema>;

import { z } from 'zod';

/** How a case ended on a target. `pending`: it has not ended. */
export const verdicts = ['passed', 'failed', 'error', 'unanswered', 'skipped', 'pending'] as const;
export const verdictSchema = z.enum(verdicts);
export type Verdict = z.infer<typeof verdictSchema>;

/** How a run ended: the decision of the rule, or that it failed. Null: the trace does not say. */
export const outcomeNames = ['TRUE', 'FALSE', 'NONE', 'ERROR'] as const;
export const ranToSchema = z.enum(outcomeNames);
export type RanTo = z.infer<typeof ranToSchema>;

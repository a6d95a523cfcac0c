import { z } from 'zod';

/** What became of a case on a target. `pending`: nothing yet. */
export const verdicts = ['passed', 'failed', 'error', 'unanswered', 'skipped', 'pending'] as const;
export const verdictSchema = z.enum(verdicts);
export type Verdict = z.infer<typeof verdictSchema>;

/** What a run came to: what the rule decided, or that it failed. Null: the trace does not say. */
export const outcomeNames = ['TRUE', 'FALSE', 'NONE', 'ERROR'] as const;
export const ranToSchema = z.enum(outcomeNames);
export type RanTo = z.infer<typeof ranToSchema>;

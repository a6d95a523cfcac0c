import { z } from 'zod';
import { warningSchema } from '../job.ts';
import { rulesOfRunSchema } from '../rules-of-run.ts';
import { isCode, outcomes } from './codes.ts';
import { stepSchema } from './states.ts';

export const codeSchema = z.enum(Object.keys(outcomes).filter(isCode));

/**
 * An execution that ended without a client's answer: what happened, in one plain sentence, and whether the rule may have run.
 * Every version reads what any other wrote: fields are only ever added, and of a code it does not know the rest still counts.
 */
export const noAnswerSchema = z.object({
  code: codeSchema.catch('outcome-unknown'),
  error: z.string(),
  mayHaveRun: z.boolean(),
  executeAt: z.int(),
  address: z.string().nullable(),
  /** The field that a `bad-request` is about, as the caller named it. */
  field: z.string().optional(),
  warnings: z.array(warningSchema).optional(),
  /** How it went on after it was queued. */
  steps: z.array(stepSchema).optional(),
  /** Of one that was sent to a client. */
  rules: rulesOfRunSchema.optional(),
  /** The lane of its client; absent for one of the trunk. */
  lane: z.string().optional(),
  /** The client's process ended while it ran the rule, which it said itself. */
  clientDied: z.boolean().optional(),
  /** The beginning of what the client wrote and is no result. */
  written: z.string().optional(),
  /** The worker that ended it could not read its job: the API that waits for it puts it into the history. */
  unrecorded: z.boolean().optional(),
});
export type NoAnswer = z.infer<typeof noAnswerSchema>;

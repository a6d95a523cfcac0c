import { z } from 'zod';
import { endings, type Reason } from '../../reasons/endings.ts';
import { isRefusalCode, refusals } from '../../reasons/refusals.ts';
import { givenOf, type ParamsOf } from '../../reasons/template.ts';
import { sentenceOf } from '../../reasons/words.ts';
import { rulesOfRunSchema } from '../rules-of-run.ts';
import { warningSchema } from '../warning.ts';
import { codeSchema, paramsSchema } from './codes.ts';
import { stepSchema } from './states.ts';

export const refusalCodeSchema = z.enum(Object.keys(refusals).filter(isRefusalCode));

/**
 * An execution that ended without a client's answer: the reason, and whether the rule may have run. Every version reads what any other
 * wrote: fields are only ever added, and of a code or a reason it does not know the rest still counts.
 */
export const noAnswerSchema = z.object({
  code: codeSchema.catch('outcome-unknown'),
  reason: z.string(),
  params: paramsSchema,
  mayHaveRun: z.boolean(),
  executeAt: z.int(),
  address: z.string().nullable(),
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

/** `field`: what a `bad-request` is about, as the caller named it. Others are parameters of a cause. */
type Others = { field?: string; [name: string]: string | number | undefined };
type More = Partial<Pick<NoAnswer, 'mayHaveRun' | 'unrecorded' | 'clientDied' | 'written'>>;

/** An ending for this reason, settled now. `mayHaveRun` is given where the reason alone does not tell. */
export function noAnswer<Of extends Reason>(
  reason: Of,
  params: ParamsOf<(typeof endings)[Of]['text']> & Others,
  more: More = {},
): NoAnswer {
  const { code, ran } = endings[reason];
  const given = givenOf(params);
  const address = given.address === undefined ? null : `${given.address}`;
  return { code, reason, params: given, mayHaveRun: ran !== 'no', executeAt: Date.now(), address, ...more };
}

/** The sentence for people. */
export const errorOf = (ending: Pick<NoAnswer, 'reason' | 'params' | 'mayHaveRun'>): string => sentenceOf(ending);

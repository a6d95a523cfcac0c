import { z } from 'zod';
import { warningSchema } from './job.ts';
import { stepSchema } from './states.ts';

/** The end states of executions that no client answered. */
type EndState = 'failed' | 'timed-out' | 'cancelled' | 'rejected';

type Row = { status: number; state: EndState; retryAfterSeconds?: number };

/** The one table: what each code means in HTTP and as the end state of the execution. */
export const outcomes = {
  'no-client': { status: 503, state: 'rejected' },
  'client-offline': { status: 503, state: 'rejected' },
  'channel-unavailable': { status: 503, state: 'rejected', retryAfterSeconds: 5 },
  'no-worker': { status: 503, state: 'rejected', retryAfterSeconds: 5 },
  overloaded: { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  'queue-unavailable': { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  'outcome-unknown': { status: 503, state: 'failed' },
  fenced: { status: 503, state: 'rejected', retryAfterSeconds: 2 },
  'not-picked-up': { status: 504, state: 'timed-out' },
  'no-answer': { status: 504, state: 'timed-out' },
  'client-left': { status: 504, state: 'timed-out' },
  'invalid-result': { status: 502, state: 'failed' },
  cancelled: { status: 409, state: 'cancelled' },
  cycle: { status: 422, state: 'rejected' },
  'bad-request': { status: 400, state: 'rejected' },
} as const satisfies Record<string, Row>;

export type Code = keyof typeof outcomes;
export const codeSchema = z.enum(Object.keys(outcomes).filter((code): code is Code => code in outcomes));

/** The way out of a refusal because all workers are full. */
export const TRY_AGAIN_OR_SCALE =
  'Try again in a moment, or start more workers (without Redis there is one: set REDIS_URL).';

/** The row of one code. */
export function outcomeOf(code: Code): Row {
  return outcomes[code];
}

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
  /** The client's process ended while it ran the rule, which it said itself. */
  clientDied: z.boolean().optional(),
  /** The worker that ended it could not read its job: the API that waits for it puts it into the history. */
  unrecorded: z.boolean().optional(),
});
export type NoAnswer = z.infer<typeof noAnswerSchema>;

type Rest = Pick<NoAnswer, 'mayHaveRun' | 'field' | 'unrecorded' | 'clientDied'> & { address?: string | null };

/** A `NoAnswer` settled now. */
export function noAnswer(code: Code, error: string, { address = null, ...rest }: Rest): NoAnswer {
  return { code, error, executeAt: Date.now(), address, ...rest };
}

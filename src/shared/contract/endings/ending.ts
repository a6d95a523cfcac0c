import { z } from 'zod';
import { type JobResult, jobResultSchema } from '../job.ts';
import { type NoAnswer, noAnswerSchema } from './no-answer.ts';

/** The value with which a worker completes the job of an execution, whatever its ending. Unknown members are ignored. */
export const endingSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), result: jobResultSchema }),
  z.object({ kind: z.literal('unanswered'), noAnswer: noAnswerSchema }),
]);

/**
 * How an execution ended: the client answered, or why there is no answer. A large answer is in the store; `Result` is
 * `ReadResult` where its text is at hand.
 */
export type Ending<Result = JobResult> = Answered<Result> | Unanswered;
type Answered<Result = JobResult> = { kind: 'answered'; result: Result };
export type Unanswered = { kind: 'unanswered'; noAnswer: NoAnswer };

/** A result with the text of the client's answer, to the letter. */
export type ReadResult = Pick<JobResult, 'address'> & { body: string };

/** An ending with the client's answer. */
export function answered<Result>(result: Result): Answered<Result> {
  return { kind: 'answered', result };
}

/** An ending without one. */
export function unanswered(noAnswer: NoAnswer): Unanswered {
  return { kind: 'unanswered', noAnswer };
}

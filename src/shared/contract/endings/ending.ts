import type { JobResult } from '../job.ts';
import type { NoAnswer } from './outcomes.ts';

/**
 * How an execution ended: the client answered, or why there is no answer. A large answer is in the store; `Result` is
 * `ReadResult` where its text is at hand.
 */
export type Ending<Result = JobResult> = Answered<Result> | Unanswered;
type Answered<Result = JobResult> = { kind: 'answered'; result: Result };
type Unanswered = { kind: 'unanswered'; noAnswer: NoAnswer };

/** A result with the text of the client's answer, to the letter. */
export type ReadResult = Pick<JobResult, 'address'> & { body: string };

/** The ending of a job that completed. */
export function answered<Result>(result: Result): Answered<Result> {
  return { kind: 'answered', result };
}

/** The ending of a job that failed. */
export function unanswered(noAnswer: NoAnswer): Unanswered {
  return { kind: 'unanswered', noAnswer };
}

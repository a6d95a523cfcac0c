// This room: An execution ends (`ending.ts`) with an answer or one of `codes.ts`, told by `sentences.ts` (`outcomes.ts` is their form);
// other requests are refused by `refusals.ts`. `job-ending.ts` reads an ending off a job, `decision.ts` off a trace. `states.ts` and
// `state-names.ts` are the states on the way, `timings.ts` what each took, `failure-group.ts` groups failures.

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

import { answered, type Ending, unanswered } from '../../shared/contract/ending.ts';
import { jobResultSchema } from '../../shared/contract/job.ts';
import { noAnswer, noAnswerSchema } from '../../shared/contract/outcomes.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';

/** The ending of a job that completed with this value. */
export function endingOfCompleted(mockId: string, returnvalue: unknown): Ending {
  const parsed = jobResultSchema.safeParse(returnvalue);
  if (parsed.success) return answered(parsed.data);
  // Workers answer in the version they are asked in, so this API was set back while the execution was open.
  const error = `Execution ${mockId} was answered in a newer form that this API does not know. It ran; look at the client, or ask an API of the newer version.`;
  return unanswered(noAnswer('outcome-unknown', error, { mayHaveRun: true }));
}

/** The ending of a job that failed for this reason: the one its worker gave, or one of the queue itself. */
export function endingOfFailed(mockId: string, failedReason: string): Ending {
  const parsed = noAnswerSchema.safeParse(parseJson(failedReason));
  if (parsed.success) return unanswered(parsed.data);
  const error = `The queue gave up on execution ${mockId}: ${failedReason}. It may have run; look at the client before running it again.`;
  return unanswered(noAnswer('outcome-unknown', error, { mayHaveRun: true }));
}

import { jobResultSchema } from '../job.ts';
import { parseJson } from '../json/parse-json.ts';
import { answered, type Ending, unanswered } from './ending.ts';
import { noAnswerSchema } from './outcomes.ts';
import { sentences } from './sentences.ts';

/** The ending of a job that completed with this value. */
export function endingOfCompleted(mockId: string, returnvalue: unknown): Ending {
  const parsed = jobResultSchema.safeParse(returnvalue);
  return parsed.success ? answered(parsed.data) : unanswered(sentences.answeredInNewerForm(mockId));
}

/** The ending of a job that failed for this reason: the one its worker gave, or one of the queue itself. */
export function endingOfFailed(mockId: string, failedReason: string): Extract<Ending, { kind: 'unanswered' }> {
  const parsed = noAnswerSchema.safeParse(parseJson(failedReason));
  return unanswered(parsed.success ? parsed.data : sentences.queueGaveUp(mockId, failedReason));
}

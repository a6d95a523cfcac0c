import { type Settled, toSettled } from '../execution-record.ts';
import { jobDataSchema, jobResultSchema } from '../job.ts';
import { parseJson } from '../json/parse-json.ts';
import { answered, type Ending, unanswered } from './ending.ts';
import { noAnswerSchema } from './outcomes.ts';
import { sentences } from './sentences.ts';

type Unanswered = Extract<Ending, { kind: 'unanswered' }>;

/** The ending of a job that completed with this value. */
export function endingOfCompleted(mockId: string, returnvalue: unknown): Ending {
  const parsed = jobResultSchema.safeParse(returnvalue);
  return parsed.success ? answered(parsed.data) : unanswered(sentences.answeredInNewerForm(mockId));
}

/** The ending of a job that failed for this reason: the one its worker gave, or one of the queue itself. */
export function endingOfFailed(mockId: string, failedReason: string): Unanswered {
  const parsed = noAnswerSchema.safeParse(parseJson(failedReason));
  return unanswered(parsed.success ? parsed.data : sentences.queueGaveUp(mockId, failedReason));
}

/**
 * What an ending means for a job that was added again meanwhile. A refusal that its worker could not write holds back no other worker,
 * which may begin the new job.
 */
export function endingOfAddedAgain<Answered extends { kind: 'answered' }>(
  mockId: string,
  ending: Answered | Unanswered,
): Answered | Unanswered {
  const isUnwritten = ending.kind === 'unanswered' && ending.noAnswer.code === 'channel-unavailable';
  return isUnwritten ? unanswered(sentences.storeWasAway(mockId)) : ending;
}

/** A job that ended. `failedReason` is empty if it completed; `finishedOn`: epoch ms. */
export type EndedJob = {
  id: string;
  data: unknown;
  timestamp: number;
  finishedOn: number;
  failedReason: string | null;
  returnvalue: unknown;
};

/** The execution of a job that ended, as histories keep it; undefined when the job's data cannot be read. */
export function settledOf({
  id,
  data,
  timestamp,
  finishedOn,
  failedReason,
  returnvalue,
}: EndedJob): Settled | undefined {
  const parsed = jobDataSchema.safeParse(data);
  if (!parsed.success) return undefined;
  const ending = failedReason ? endingOfFailed(id, failedReason) : endingOfCompleted(id, returnvalue);
  return toSettled({ mockId: id, data: parsed.data, queuedAt: timestamp }, ending, finishedOn);
}

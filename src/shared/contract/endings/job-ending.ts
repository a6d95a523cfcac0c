import { type Settled, toSettled } from '../execution-record.ts';
import { jobDataSchema } from '../job.ts';
import { type Ending, endingSchema, type Unanswered, unanswered } from './ending.ts';
import { noAnswer } from './no-answer.ts';

/**
 * The ending in the value of a job that ended. A job without a value failed by a defect of its worker: only its log tells more, and
 * the rule may have run.
 */
export function readEnding(mockId: string, value: unknown): Ending {
  if (value === undefined || value === null) return unanswered(noAnswer('worker-failed', { mockId }));
  return endingSchema.safeParse(value).data ?? unanswered(noAnswer('newer-form', { mockId }));
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
  return isUnwritten ? unanswered(noAnswer('store-was-away', { mockId })) : ending;
}

/** A job that ended. Times are epoch ms. */
export type EndedJob = { id: string; data: unknown; addedAt: number; endedAt: number; value: unknown };

/** The execution of a job that ended, as histories keep it; undefined when the job's data cannot be read. */
export function settledOf({ id, data, addedAt, endedAt, value }: EndedJob): Settled | undefined {
  const parsed = jobDataSchema.safeParse(data);
  if (!parsed.success) return undefined;
  return toSettled({ mockId: id, data: parsed.data, queuedAt: addedAt }, readEnding(id, value), endedAt);
}

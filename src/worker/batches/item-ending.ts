import { answered, type Ending, unanswered } from '../../shared/contract/ending.ts';
import { endingOf } from '../../shared/contract/execution-record.ts';
import { type JobResult, jobResultSchema } from '../../shared/contract/job.ts';
import { noAnswer, noAnswerSchema } from '../../shared/contract/outcomes.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import type { History } from '../../shared/store/history.ts';
import type { Store } from '../../shared/store/key-value-store.ts';

/** How an item ended, with the client's answer as text. */
export type ItemEnding =
  | { kind: 'answered'; result: JobResult; body: string; tookMs: number | null }
  | Extract<Ending, { kind: 'unanswered' }>;

/** Reads how an item ended, from its job or from the history. */
export function createReadItemEnding({ history, store }: { history: History; store: Store }) {
  return { fromHistory, fromResult, fromReason };

  async function fromHistory(mockId: string): Promise<ItemEnding | null> {
    const record = await history.get(mockId);
    const body = record && (await history.result(mockId));
    const ending = record && endingOf(record, body);
    if (!ending || ending.kind === 'unanswered') return ending;
    if (body === null) return unknownOutcome(mockId, 'its answer is not kept any more');
    const steps = record.history.slice(1, -1);
    const result: JobResult = {
      ...ending.result,
      steps,
      ...(record.answeredAt !== null && { answeredAt: record.answeredAt }),
    };
    return { kind: 'answered', result, body, tookMs: tookMs(result) };
  }

  async function fromResult(mockId: string, value: unknown): Promise<ItemEnding | null> {
    const parsed = jobResultSchema.safeParse(value);
    if (!parsed.success)
      return unknownOutcome(mockId, 'it was answered in a newer form that this worker does not know');
    const { body, stored } = parsed.data;
    const text = body ?? (stored === undefined ? null : ((await store.get(stored)) ?? (await history.result(mockId))));
    if (text === null) return unknownOutcome(mockId, 'its answer could not be read back');
    return { ...answered(parsed.data), body: text, tookMs: tookMs(parsed.data) };
  }
}

/** The end of an item of which it is unknown whether it ran, so that it is not sent again. */
export function unknownOutcome(mockId: string, why: string): Extract<Ending, { kind: 'unanswered' }> {
  const error = `How ${mockId} ended is not known: ${why}. It may have run, and is not sent again.`;
  return unanswered(noAnswer('outcome-unknown', error, { mayHaveRun: true }));
}

function fromReason(mockId: string, reason: string): ItemEnding {
  const parsed = noAnswerSchema.safeParse(parseJson(reason));
  return parsed.success ? unanswered(parsed.data) : unknownOutcome(mockId, `the queue gave up on it (${reason})`);
}

function tookMs({ steps = [], answeredAt }: Pick<JobResult, 'steps' | 'answeredAt'>): number | null {
  const dispatchedAt = steps.find(({ state }) => state === 'dispatched')?.at;
  return dispatchedAt === undefined || answeredAt === undefined
    ? null
    : Math.max(0, Math.round(answeredAt - dispatchedAt));
}

import { answered, type Ending, type ReadResult, unanswered } from '../../shared/contract/endings/ending.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { JobResult } from '../../shared/contract/job.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { Store } from '../../shared/store/key-value-store.ts';

export type ReadAnswer = ReturnType<typeof createReadAnswer>;

/** Reads the text of a client's answer, which travels with its job when it is small and is in the store when it is large. */
export function createReadAnswer({ store, history }: { store: Store; history: History }) {
  return async function readAnswer(mockId: string, { body, stored }: JobResult): Promise<string | null> {
    if (body !== undefined || stored === undefined) return body ?? null;
    // It moves from the store to the history as soon as its job is done.
    return (await store.get(stored)) ?? (await history.result(mockId));
  };
}

/** The same ending with the text of its answer; `body` is null when that could not be read. */
export function withAnswer(mockId: string, ending: Ending, body: string | null): Ending<ReadResult> {
  if (ending.kind === 'unanswered') return ending;
  const { result } = ending;
  return body === null
    ? unanswered(noAnswer('answer-unreadable', { mockId, address: result.address }))
    : answered({ ...result, body });
}

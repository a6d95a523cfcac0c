import { setTimeout as sleep } from 'node:timers/promises';
import type { Ending } from '../../shared/contract/ending.ts';
import { answered, unanswered } from '../../shared/contract/ending.ts';
import { endingOf } from '../../shared/contract/execution-record.ts';
import { type JobData, type JobResult, jobResultSchema } from '../../shared/contract/job.ts';
import { noAnswer, noAnswerSchema } from '../../shared/contract/outcomes.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { apiWaitMs, type Settings } from '../../shared/runtime/settings.ts';
import type { History } from '../../shared/store/history.ts';
import { addExecution } from '../../shared/store/job-heads.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import type { ExecutionQueue, QueueBackend } from '../../shared/store/queue-backend.ts';
import type { Replies } from '../../shared/store/replies.ts';
import { CLAIM_KEPT_MS } from '../files/claim-minutes.ts';

/** Events are hints; this often an item is looked up anyway. */
const LOOK_AGAIN_MS = 1000;
/** A clock that differs, and the minute a claim lies under. */
const SWEPT_EARLY_MS = 2 * 60_000;

/** How an item ended, with the client's answer as text. */
export type ItemEnding =
  | { kind: 'answered'; result: JobResult; body: string; tookMs: number | null }
  | Extract<Ending, { kind: 'unanswered' }>;

export type Item = { mockId: string; data: JobData };

type Dependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  history: History;
  store: Store;
  settings: Settings;
};
export type FollowItems = ReturnType<typeof createFollowItems>;

/** Waits for the ends of items. Workers tell of each; of one that another worker added, only a look tells. */
export function createFollowItems({ backend, queue, history, store, settings }: Dependencies) {
  const waiting = new Map<string, () => void>();
  let replies: Replies | undefined;

  function listen(): Replies {
    replies ??= backend.openReplies(queue, {
      onReply: ({ id }) => waiting.get(id)?.(),
      onBack: () => {
        for (const wake of waiting.values()) wake();
      },
    });
    return replies;
  }

  /** The end of one item, or null when `signal` aborts first. A job that was lost is added again under its id and time. */
  async function follow({ mockId, data }: Item, signal: AbortSignal): Promise<ItemEnding | null> {
    const giveUpAt = data.claimBy + apiWaitMs(settings);
    while (!signal.aborted) {
      const hint = new Promise<void>((resolve) => waiting.set(mockId, resolve));
      const ending = await look({ mockId, data }).catch(() => null); // the queue store comes back
      if (ending) {
        waiting.delete(mockId);
        return ending;
      }
      if (Date.now() > giveUpAt) return unknownOutcome(mockId, 'no worker reported its end in time');
      const pause = new AbortController();
      await Promise.race([
        hint,
        sleep(LOOK_AGAIN_MS, undefined, { signal: AbortSignal.any([signal, pause.signal]) }).catch(() => {}),
      ]);
      pause.abort();
    }
    waiting.delete(mockId);
    return null;
  }

  async function look(item: Item): Promise<ItemEnding | null> {
    const { mockId, data } = item;
    const found = await queue.getBackend().isFinished(mockId, true);
    const [status, value] = Array.isArray(found) ? found : [found, ''];
    if (status === 1) return fromResult(mockId, parseJson(value));
    if (status === 2) return fromReason(mockId, value);
    if (status !== -1) return null;
    const known = await fromHistory(mockId);
    if (known) return known;
    if (claimMayBeSwept(data.claimBy))
      return unknownOutcome(mockId, 'the queue store lost it for longer than claims are kept');
    await addExecution(queue, mockId, { ...data, replyTo: listen().address, addedAgain: true });
    return null;
  }

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
      return unknownOutcome(mockId, 'it was answered in a form this worker, which is older, does not know');
    const { body, stored } = parsed.data;
    const text = body ?? (stored === undefined ? null : ((await store.get(stored)) ?? (await history.result(mockId))));
    if (text === null) return unknownOutcome(mockId, 'its answer could not be read back');
    return { ...answered(parsed.data), body: text, tookMs: tookMs(parsed.data) };
  }

  return {
    follow,
    /** Where the end of an item is told that is added here: its data says so. */
    address: () => listen().address,
    close: async () => replies?.close(),
  };
}

/** Whether a claim of that time may have been removed: who finds none cannot tell whether there was one. */
export function claimMayBeSwept(claimBy: number): boolean {
  return Date.now() >= claimBy + CLAIM_KEPT_MS - SWEPT_EARLY_MS;
}

/** The end of an item nobody can tell, so that it is not sent again. */
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

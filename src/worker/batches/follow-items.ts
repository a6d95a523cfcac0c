import { claimMayBeSwept } from '../../shared/contract/claim-age.ts';
import { type Ending, unanswered } from '../../shared/contract/endings/ending.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { endingOf, endingOfAddedAgain, readEnding } from '../../shared/contract/execution-record.ts';
import type { JobData, JobResult } from '../../shared/contract/job.ts';
import { time } from '../../shared/ports/time.ts';
import { type AwaitedJob, followJobs } from '../../shared/queue/follow-jobs.ts';
import { addExecution, type ExecutionQueue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { Why } from '../../shared/reasons/causes.ts';
import { persistOrThrow, STORE_BACK_WITHIN_MS } from '../../shared/runtime/async.ts';
import { apiWaitMs, type Settings } from '../../shared/runtime/settings/settings.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { Store } from '../../shared/store/key-value-store.ts';

/** How an item ended, with the client's answer as text. */
export type ItemEnding =
  | { kind: 'answered'; result: JobResult; body: string; tookMs: number | null }
  | Extract<Ending, { kind: 'unanswered' }>;

type Item = { mockId: string; data: JobData };

type FollowItemsDependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  history: History;
  store: Store;
  settings: Settings;
};
export type FollowItems = ReturnType<typeof createFollowItems>;

/** Waits for the ends of items. A job that was lost is added again under its id and time. */
export function createFollowItems(dependencies: FollowItemsDependencies) {
  const { queue, settings } = dependencies;
  const { fromHistory, fromJob } = createReadItem(dependencies);
  const jobs = followJobs<JobData, ItemEnding | null>({
    ...dependencies,
    read: (mockId, value) => persistOrThrow(time.now() + STORE_BACK_WITHIN_MS, () => fromJob(mockId, value)),
    known: fromHistory,
    inDoubt: (mockId, ending) => ending && endingOfAddedAgain(mockId, ending),
    onUnfinished,
  });

  async function onUnfinished(mockId: string, job: AwaitedJob<JobData>, state: 'open' | 'missing'): Promise<void> {
    if (state === 'open') return;
    const { data } = job;
    if (claimMayBeSwept(data.claimBy, time.isPast))
      return void jobs.settle(mockId, unknownItem(mockId, 'lost-too-long'));
    job.againAt = time.now();
    await addExecution(queue, mockId, { ...data, replyTo: jobs.replyTo, addedAgain: true });
  }

  return {
    /** The end of one item, or null when `signal` aborts first. */
    async follow({ mockId, data }: Item, signal: AbortSignal): Promise<ItemEnding | null> {
      if (signal.aborted) return null;
      // After a long time without workers its job may be waiting for one to go on with it.
      const withinMs = Math.max(data.claimBy - time.now(), 0) + apiWaitMs(settings);
      const end = jobs.wait(mockId, data, withinMs, async () => unknownItem(mockId, 'not-reported'));
      const onAbort = () => void jobs.settle(mockId, null);
      signal.addEventListener('abort', onAbort, { once: true });
      jobs.lookUp(mockId).catch(() => {}); // it may have ended before: the worker that sent it died
      return end.finally(() => signal.removeEventListener('abort', onAbort));
    },
    /** The `replyTo` of the items that are added here, so that their endings are published to this worker. */
    replyTo: jobs.replyTo,
    close: jobs.close,
  };
}

/** Reads how an item ended, from its job or from the history. */
function createReadItem({ history, store }: Pick<FollowItemsDependencies, 'history' | 'store'>) {
  return { fromHistory, fromJob };

  async function fromHistory(mockId: string): Promise<ItemEnding | null> {
    const record = await history.get(mockId);
    const body = record && (await history.result(mockId));
    const ending = record && endingOf(record, body);
    if (!ending || ending.kind === 'unanswered') return ending;
    if (body === null) return unknownItem(mockId, 'not-kept');
    const steps = record.history.slice(1, -1);
    const { answeredAt } = record;
    const result: JobResult = { ...ending.result, steps, ...(answeredAt !== null && { answeredAt }) };
    return { kind: 'answered', result, body, tookMs: tookMs(result) };
  }

  async function fromJob(mockId: string, value: unknown): Promise<ItemEnding> {
    const ending = readEnding(mockId, value);
    if (ending.kind === 'unanswered') return ending;
    const { body, stored, address } = ending.result;
    const text = body ?? (stored === undefined ? null : ((await store.get(stored)) ?? (await history.result(mockId))));
    if (text === null) return unanswered(noAnswer('answer-unreadable', { mockId, address }));
    return { ...ending, body: text, tookMs: tookMs(ending.result) };
  }
}

/** The end of an item of which it is unknown whether it ran, so that it is not sent again. */
export function unknownItem(mockId: string, why: Why): Extract<Ending, { kind: 'unanswered' }> {
  return unanswered(noAnswer('item-unknown', { mockId, why }));
}

function tookMs({ steps = [], answeredAt }: Pick<JobResult, 'steps' | 'answeredAt'>): number | null {
  const dispatchedAt = steps.find(({ state }) => state === 'dispatched')?.at;
  return dispatchedAt === undefined || answeredAt === undefined
    ? null
    : Math.max(0, Math.round(answeredAt - dispatchedAt));
}

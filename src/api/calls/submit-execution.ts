import { setTimeout } from 'node:timers/promises';
import { type Ending, type ReadResult, unanswered } from '../../shared/contract/ending.ts';
import { type ExecuteRequest, type JobData, toJobData } from '../../shared/contract/job.ts';
import { type Code, type NoAnswer, noAnswer } from '../../shared/contract/outcomes.ts';
import type { ThrottledAlert } from '../../shared/runtime/logger.ts';
import { apiWaitMs, type Settings } from '../../shared/runtime/settings.ts';
import type { createCancelSender } from '../../shared/store/control.ts';
import type { History } from '../../shared/store/history.ts';
import { INLINE_BYTES } from '../../shared/store/key-value-store.ts';
import type { ExecutionQueue, QueueBackend } from '../../shared/store/queue-backend.ts';
import { wasNotSent, wasRefused } from '../../shared/store/store-error.ts';
import type { BodyLease } from '../http/open-bodies.ts';
import { type QueueHealth, STORE_ADVICE } from '../queue-health.ts';
import type { PendingExecutions } from './await-ending.ts';
import { cancelledInQueue } from './no-ending.ts';
import { type ReadAnswer, withAnswer } from './read-answer.ts';

const PERSIST_EVERY_MS = 250;
/** An answer that is there is worth this wait for the store to come back. */
const READ_WITHIN_MS = 10_000;

/** Whether a call is on its way, with its ending to come; or why it is not. */
export type Begun =
  | { kind: 'begun'; ending: () => Promise<Ending<ReadResult>> }
  | { kind: 'refused'; noAnswer: NoAnswer };

type Dependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  pending: PendingExecutions;
  health: QueueHealth;
  cancels: ReturnType<typeof createCancelSender>;
  history: History;
  readAnswer: ReadAnswer;
  settings: Settings;
  storeAlert: ThrottledAlert;
  /** A call was refused before it became an execution anybody else knows of. */
  onRefused: (code: Code) => void;
};

export type SubmitExecution = ReturnType<typeof createSubmitExecution>;

/** A call to run: what was asked for, under which id, by whom; with `claimBy` when it is noted under a key already. `body` is shared until it has ended. */
export type Call = {
  mockId: string;
  request: ExecuteRequest;
  keyName: string | null;
  claimBy?: number;
  body?: BodyLease;
};

/** Puts calls on the queue and waits for their end. */
export function createSubmitExecution(dependencies: Dependencies) {
  const { backend, queue, pending, health, cancels, history, settings, storeAlert, onRefused } = dependencies;

  /** Begins a call. This API sees to it until it has ended, whoever waits for it. */
  async function begin({ mockId, request, keyName, claimBy, body }: Call): Promise<Begun> {
    const refusal = refusedAtOnce();
    if (refusal) return refused(refusal);
    const isKeyed = claimBy !== undefined;
    const data = toJobData(request, { claimBy: claimBy ?? Date.now() + settings.QUEUE_TIMEOUT_MS, keyName });
    const end = pending.wait(mockId, data, apiWaitMs(settings));
    body?.share();
    end.finally(() => body?.close()).catch(() => {});
    const notStored = await add(mockId, data, isKeyed);
    if (!notStored) return { kind: 'begun', ending: async () => read(mockId, await end) };
    pending.settle(mockId, unanswered(notStored));
    return refused(notStored);
  }

  function refused(noAnswer: NoAnswer): Begun {
    onRefused(noAnswer.code);
    return { kind: 'refused', noAnswer };
  }

  return {
    begin,
    /** Why nothing can be begun at all, if so. */
    storeIsAway,
    /** Runs a call to its end. `callerLeft` aborts when nobody wants the answer any more. */
    async run(call: Call, callerLeft: AbortSignal): Promise<Ending<ReadResult>> {
      const { mockId } = call;
      const since = Date.now();
      const begun = await begin(call);
      if (begun.kind === 'refused') return unanswered(begun.noAnswer);
      const onLeave = () => void cancel(mockId, since);
      callerLeft.addEventListener('abort', onLeave, { once: true });
      if (callerLeft.aborted) onLeave();
      try {
        const ending = await begun.ending();
        letGoOf(mockId, ending);
        return ending;
      } finally {
        callerLeft.removeEventListener('abort', onLeave);
      }
    },
  };

  function refusedAtOnce(): NoAnswer | undefined {
    const unavailable = storeIsAway();
    if (unavailable) return unavailable;
    const waiting = Math.max(health.waiting, pending.waiting - health.active);
    if (waiting < settings.MAX_QUEUED) return undefined;
    const error = `${waiting} executions are waiting already. This one did not run. Try again in a moment, or start more workers.`;
    return noAnswer('overloaded', error, { mayHaveRun: false });
  }

  function storeIsAway(): NoAnswer | undefined {
    if (health.up) return undefined;
    const error = 'The queue store cannot be reached, so nothing was sent. It did not run. Try again in a moment.';
    return noAnswer('queue-unavailable', error, { mayHaveRun: false });
  }

  async function add(mockId: string, data: JobData, isKeyed: boolean): Promise<NoAnswer | undefined> {
    try {
      await backend.inTime(queue.add('execute', data, { jobId: mockId }));
      return undefined;
    } catch (error) {
      storeAlert.begins(error, STORE_ADVICE);
      if (wasNotSent(error)) return notSent(error);
      // A keyed call goes on if its job is there: the repeat of the call joins it.
      if (!isKeyed) void removeWhenBack(mockId, data);
      const unknown = `The queue store did not confirm execution ${mockId}. It may run; look at the client before running it again.`;
      return noAnswer('outcome-unknown', unknown, { mayHaveRun: true });
    }
  }

  /**
   * The caller got `outcome-unknown`. Once Redis is back: remove the job if it is still queued, else ask the workers to
   * cancel it unless it was picked up.
   */
  async function removeWhenBack(mockId: string, { claimBy }: JobData): Promise<void> {
    const removed = await persist(claimBy, () => backend.removeWaiting(queue, mockId));
    if (!removed) await persist(claimBy, () => cancels.send({ mockId, why: 'caller-left' }));
  }

  async function cancel(mockId: string, since: number): Promise<void> {
    await persist(since + apiWaitMs(settings), async () => {
      const waits = !pending.mayHaveBegun(mockId, since);
      if (waits && (await pending.revoke(mockId, cancelledInQueue(mockId)))) return;
      await cancels.send({ mockId, why: 'caller-left' });
    });
  }

  async function read(mockId: string, ending: Ending): Promise<Ending<ReadResult>> {
    if (ending.kind === 'unanswered') return ending;
    const { result } = ending;
    const body = await persist(Date.now() + READ_WITHIN_MS, () => dependencies.readAnswer(mockId, result));
    return withAnswer(mockId, ending, body ?? null);
  }

  /** Large results are read once: nobody else waits for this call. */
  function letGoOf(mockId: string, ending: Ending<ReadResult>): void {
    if (ending.kind === 'answered' && ending.result.body.length > INLINE_BYTES) {
      history.delivered(mockId).catch(() => {}); // then it stays for a while
    }
  }
}

function notSent(error: unknown): NoAnswer {
  const why = wasRefused(error) ? 'refused the execution' : 'cannot be reached';
  const sentence = `The queue store ${why}, so nothing was sent. It did not run. Try again in a moment.`;
  return noAnswer('queue-unavailable', sentence, { mayHaveRun: false });
}

/** Tries until it works, at most until `deadline` (epoch ms): for what must not be lost while the queue store is away. */
async function persist<T>(deadline: number, task: () => Promise<T>): Promise<T | undefined> {
  for (;;) {
    try {
      return await task();
    } catch {
      if (Date.now() >= deadline) return undefined;
      await setTimeout(PERSIST_EVERY_MS);
    }
  }
}

import { ReplyError } from 'ioredis';
import { type ExecuteRequest, type JobData, toJobData } from '../shared/contract.ts';
import type { createCancelSender } from '../shared/control.ts';
import type { History } from '../shared/history.ts';
import type { Logger } from '../shared/logger.ts';
import { type NoAnswer, noAnswer } from '../shared/outcomes.ts';
import type { ExecutionQueue } from '../shared/queue.ts';
import { apiWaitMs, type Settings } from '../shared/settings.ts';
import type { Store } from '../shared/store.ts';
import type { FinishedExecutions, JobEnding } from './finished-executions.ts';
import type { QueueHealth } from './queue-health.ts';

/** How an execution ended for its caller. `body` is the client's answer, to the letter. */
export type Ending =
  | { kind: 'answered'; mockId: string; address: string; body: string }
  | { kind: 'unanswered'; mockId: string; noAnswer: NoAnswer };

type Dependencies = {
  queue: ExecutionQueue;
  finished: FinishedExecutions;
  health: QueueHealth;
  cancels: ReturnType<typeof createCancelSender>;
  store: Store;
  history: History;
  settings: Settings;
  log: Logger;
};

export type SubmitExecution = ReturnType<typeof createSubmitExecution>;

/** A call to run: what was asked for, under which id, by whom. */
export type Call = { mockId: string; request: ExecuteRequest; keyName: string | null };

/** Puts calls on the queue and waits for their end. */
export function createSubmitExecution(dependencies: Dependencies) {
  const { queue, finished, health, cancels, store, history, settings, log } = dependencies;

  /** Resolves once the call is on the queue, with the promise of its ending; or with the reason why it is not. */
  async function enqueue({
    mockId,
    request,
    keyName,
  }: Call): Promise<{ data: JobData; ending: Promise<JobEnding> } | NoAnswer> {
    const refusal = refusedAtOnce();
    if (refusal) return refusal;
    const data = toJobData(request, { claimBy: Date.now() + settings.QUEUE_TIMEOUT_MS, keyName });
    const ending = finished.wait(mockId, data, apiWaitMs(settings));
    const notStored = await add(mockId, data);
    if (notStored) finished.settle(mockId, { kind: 'unanswered', noAnswer: notStored });
    return notStored ?? { data, ending };
  }

  return {
    /** Runs a call to its end. `callerLeft` aborts when nobody wants the answer any more. */
    async run(call: Call, callerLeft: AbortSignal): Promise<Ending> {
      const { mockId } = call;
      const enqueued = await enqueue(call);
      if ('code' in enqueued) return { kind: 'unanswered', mockId, noAnswer: enqueued };
      const onLeave = () => void cancel(mockId, enqueued.data);
      callerLeft.addEventListener('abort', onLeave, { once: true });
      if (callerLeft.aborted) onLeave();
      try {
        return await toEnding(mockId, await enqueued.ending);
      } finally {
        callerLeft.removeEventListener('abort', onLeave);
      }
    },

    /** Begins a call nobody waits for here; null, or why it could not be begun. This API sees to it until it has ended. */
    async begin(call: Call): Promise<NoAnswer | null> {
      const enqueued = await enqueue(call);
      return 'code' in enqueued ? enqueued : null;
    },
  };

  function refusedAtOnce(): NoAnswer | undefined {
    if (!health.up) {
      return noAnswer(
        'queue-unavailable',
        'The queue store cannot be reached, so nothing was sent. It did not run. Try again in a moment.',
        {
          mayHaveRun: false,
        },
      );
    }
    const waiting = Math.max(health.waiting, finished.waiting - health.active);
    if (waiting < settings.MAX_QUEUED) return undefined;
    return noAnswer(
      'overloaded',
      `${waiting} executions are waiting already. This one did not run. Try again in a moment, or start more workers.`,
      {
        mayHaveRun: false,
      },
    );
  }

  async function add(mockId: string, data: JobData): Promise<NoAnswer | undefined> {
    try {
      await queue.add('execute', data, { jobId: mockId });
      return undefined;
    } catch (error) {
      if (wasNotSent(error)) {
        const why = error instanceof ReplyError ? 'refused the execution' : 'cannot be reached';
        return noAnswer(
          'queue-unavailable',
          `The queue store ${why}, so nothing was sent. It did not run. Try again in a moment.`,
          { mayHaveRun: false },
        );
      }
      log.warn(
        { mockId, err: error },
        'adding an execution ended without a reply; it is removed as soon as the store is back',
      );
      void removeWhenBack(mockId, data.claimBy);
      return noAnswer(
        'outcome-unknown',
        `The queue store did not confirm execution ${mockId}. It may run; look at the client before running it again.`,
        {
          mayHaveRun: true,
        },
      );
    }
  }

  /** Nobody waits for this execution any more; after `claimBy` no worker would begin it anyway. */
  async function removeWhenBack(mockId: string, claimBy: number): Promise<void> {
    while (Date.now() < claimBy) {
      const removed = await queue.remove(mockId, { removeChildren: false }).catch(() => undefined);
      if (removed !== undefined) return;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async function cancel(mockId: string, data: JobData): Promise<void> {
    try {
      const job = await queue.getJob(mockId);
      if (!job) return;
      const begun = job.attemptsStarted > 0;
      if (!begun && (await finished.takeBack(mockId, data, callerLeftBefore(mockId)))) return;
      await cancels.send({ mockId, why: 'caller-left' });
    } catch (error) {
      log.warn({ mockId, err: error }, 'the caller left, but its execution could not be cancelled; it runs on');
    }
  }

  /** A result leaves the store for the history as soon as its job is done. */
  async function readStored(mockId: string, stored: string): Promise<string | null> {
    return (await store.get(stored)) ?? (await history.result(mockId));
  }

  async function toEnding(mockId: string, ending: JobEnding): Promise<Ending> {
    if (ending.kind === 'unanswered') return { kind: 'unanswered', mockId, noAnswer: ending.noAnswer };
    const { address, body, stored } = ending.result;
    const answer = body ?? (stored === undefined ? null : await readStored(mockId, stored).catch(() => null));
    if (answer !== null) return { kind: 'answered', mockId, address, body: answer };
    const error = `Client ${address} answered execution ${mockId}, but its answer could not be read back from the store. It ran.`;
    return { kind: 'unanswered', mockId, noAnswer: noAnswer('outcome-unknown', error, { mayHaveRun: true, address }) };
  }
}

function callerLeftBefore(mockId: string): NoAnswer {
  return noAnswer('cancelled', `Execution ${mockId} was cancelled before a worker began it. It did not run.`, {
    mayHaveRun: false,
  });
}

/** Whether a failed command surely changed nothing: the connection was down before it, or Redis itself said no. */
function wasNotSent(error: unknown): boolean {
  return error instanceof ReplyError || (error instanceof Error && error.message.startsWith("Stream isn't writeable"));
}

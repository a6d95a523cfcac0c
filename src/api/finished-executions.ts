import { randomUUID } from 'node:crypto';
import type { QueueEventsListener } from 'bullmq';
import { type JobData, type JobResult, jobResultSchema } from '../shared/contract.ts';
import { every } from '../shared/every.ts';
import { createIncident, type Logger } from '../shared/logger.ts';
import { type NoAnswer, noAnswer, noAnswerSchema } from '../shared/outcomes.ts';
import { parseJson } from '../shared/parse-json.ts';
import { type ExecutionQueue, type QueueBackend, queueNames } from '../shared/queue.ts';
import { createWaitingRoom } from '../shared/waiting-room.ts';

/** How a job ended: the client answered, or why there is no answer. */
export type JobEnding = { kind: 'answered'; result: JobResult } | { kind: 'unanswered'; noAnswer: NoAnswer };

const TICK_MS = 500;
const RECHECK_AFTER_MS = 2000;
const RECHECKS_PER_TICK = 500;
/** A worker that takes a job at the last moment is given this long to be seen doing so. */
const CLAIM_SLACK_MS = 250;

type Watched = { data: JobData; recheckAt: number; addedAgain: boolean };

interface HelloListener extends QueueEventsListener {
  hello: (message: { from: string }, id: string) => void;
}

type Dependencies = { backend: QueueBackend; queue: ExecutionQueue; workers: () => number; log: Logger };

export type FinishedExecutions = ReturnType<typeof openFinishedExecutions>;

/**
 * Where the callers of this API wait. One event stream tells of finished jobs; since an event may be missed, every
 * waiting id is also looked up again each 2 s, and a job the queue store lost is added again under the same id
 * (harmless: the claim beside the request file keeps it from being dispatched twice).
 */
export function openFinishedExecutions({ backend, queue, workers, log }: Dependencies) {
  const room = createWaitingRoom<JobEnding>();
  const watched = new Map<string, Watched>();
  const events = backend.openEvents(queueNames.executions);
  const incident = createIncident(log, 'Finished executions cannot be followed');

  events.on('completed', ({ jobId, returnvalue }) => settle(jobId, answered(jobId, returnvalue)));
  events.on('failed', ({ jobId, failedReason }) => settle(jobId, unanswered(jobId, failedReason)));
  events.on('error', (error) => incident.begins(error, 'answers are looked up every 2 s instead'));
  const recheck = every(TICK_MS, recheckDue, () => {}); // the queue's health says so once, and the next tick tries again

  function settle(mockId: string, ending: JobEnding): boolean {
    watched.delete(mockId);
    return room.settle(mockId, ending);
  }

  async function recheckDue(): Promise<void> {
    const now = Date.now();
    const due = [...watched].filter(([, { recheckAt }]) => recheckAt <= now).slice(0, RECHECKS_PER_TICK);
    await Promise.all(due.map(([mockId, entry]) => lookUp(mockId, entry)));
    if (due.length > 0) incident.ends();
  }

  async function lookUp(mockId: string, entry: Watched): Promise<void> {
    const now = Date.now();
    const claimCheckAt = entry.data.claimBy + CLAIM_SLACK_MS;
    entry.recheckAt = Math.min(now + RECHECK_AFTER_MS, claimCheckAt > now ? claimCheckAt : Number.POSITIVE_INFINITY);
    const found = await queue.getBackend().isFinished(mockId, true);
    const [status, value] = Array.isArray(found) ? found : [found, ''];
    if (!watched.has(mockId)) return;
    if (status === 1) settle(mockId, answered(mockId, JSON.parse(value)));
    else if (status === 2) settle(mockId, unanswered(mockId, value));
    else if (status === -1) await addAgain(mockId, entry);
    else if (now >= claimCheckAt) await giveUpIfNeverTaken(mockId, entry);
  }

  async function addAgain(mockId: string, entry: Watched): Promise<void> {
    log.warn({ mockId }, 'the queue store lost an execution; it is added again under the same id');
    entry.addedAgain = true;
    await queue.add('execute', entry.data, { jobId: mockId });
  }

  /** Takes an execution back that no worker began in time. Once one began it, only the worker can tell how it ended. */
  async function giveUpIfNeverTaken(mockId: string, { data, addedAgain }: Watched): Promise<void> {
    const job = await queue.getJob(mockId);
    if (!job || job.attemptsStarted > 0 || job.processedOn) return;
    if ((await queue.remove(mockId, { removeChildren: false })) !== 1) return;
    settle(mockId, { kind: 'unanswered', noAnswer: neverTaken(mockId, data, addedAgain) });
  }

  function neverTaken(mockId: string, { target }: JobData, addedAgain: boolean): NoAnswer {
    if (addedAgain) {
      return noAnswer(
        'outcome-unknown',
        `The queue store lost execution ${mockId} and no worker took it up again. It may have run.`,
        {
          mayHaveRun: true,
        },
      );
    }
    return workers() > 0
      ? noAnswer(
          'overloaded',
          `All workers are full: none began this execution for "${target}" in time. It did not run. Try again in a moment, or start more workers.`,
          { mayHaveRun: false },
        )
      : noAnswer(
          'no-worker',
          'No worker is running, so nobody could begin this execution. It did not run. Start a worker and try again.',
          { mayHaveRun: false },
        );
  }

  return {
    /** Resolves once events arrive for sure: our own first one came back, so the cursor is a concrete one. */
    async ready(): Promise<void> {
      const me = randomUUID();
      const producer = backend.openEventsProducer(queueNames.executions);
      producer.on('error', () => {}); // retried below
      let heard = false;
      events.on<HelloListener, 'hello'>('hello', ({ from }) => {
        heard ||= from === me;
      });
      while (!heard) {
        await producer.publishEvent({ eventName: 'hello', from: me }, backend.maxEvents).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await producer.close();
    },

    /** Waits for the end of one execution, at most `timeoutMs`. Call it before the job is added. */
    async wait(mockId: string, data: JobData, timeoutMs: number): Promise<JobEnding> {
      watched.set(mockId, { data, recheckAt: Date.now() + RECHECK_AFTER_MS, addedAgain: false });
      return room.enter(mockId, timeoutMs, () => {
        watched.delete(mockId);
        return { kind: 'unanswered', noAnswer: neverReported(mockId, timeoutMs) };
      });
    },
    settle,
    get waiting() {
      return room.size;
    },
    async close(): Promise<void> {
      await recheck.stop();
      await events.close();
    },
  };
}

function answered(mockId: string, returnvalue: unknown): JobEnding {
  const parsed = jobResultSchema.safeParse(returnvalue);
  if (parsed.success) return { kind: 'answered', result: parsed.data };
  return unanswered(mockId, 'it ended with a result this version does not know');
}

function unanswered(mockId: string, failedReason: string): JobEnding {
  const parsed = noAnswerSchema.safeParse(parseJson(failedReason));
  if (parsed.success) return { kind: 'unanswered', noAnswer: parsed.data };
  const error = `The queue gave up on execution ${mockId}: ${failedReason}. It may have run; look at the client before running it again.`;
  return { kind: 'unanswered', noAnswer: noAnswer('outcome-unknown', error, { mayHaveRun: true }) };
}

function neverReported(mockId: string, timeoutMs: number): NoAnswer {
  const error = `No worker reported the end of execution ${mockId} within ${timeoutMs} ms. It may have run; look at the client before running it again.`;
  return noAnswer('no-answer', error, { mayHaveRun: true });
}

import {
  type ExecutionRecord,
  endedRecord,
  noAnswerBody,
  noAnswerOf,
  openRecord,
} from '../../shared/contract/execution-record.ts';
import {
  JOB_VERSION,
  type JobData,
  type JobResult,
  jobDataSchema,
  jobResultSchema,
} from '../../shared/contract/job.ts';
import { type NoAnswer, noAnswer, noAnswerSchema } from '../../shared/contract/outcomes.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { createIncident, type Incident, type Logger } from '../../shared/runtime/logger.ts';
import type { History } from '../../shared/store/history.ts';
import type { ExecutionQueue, QueueBackend } from '../../shared/store/queue-backend.ts';
import { followJobs, type Watched } from './follow-jobs.ts';

/** How a job ended: the client answered, or why there is no answer. */
export type JobEnding = { kind: 'answered'; result: JobResult } | { kind: 'unanswered'; noAnswer: NoAnswer };

/** A worker that takes a job at the last moment is given this long to be seen doing so. */
const CLAIM_SLACK_MS = 250;
/** Workers come back to a queue store that was away within this time. */
const TAKEN_UP_WITHIN_MS = 10_000;

type Queued = { mockId: string; data: JobData; queuedAt: number };

type Dependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  history: History;
  workers: () => number;
  storeIncident: Incident;
  onEnded: (record: ExecutionRecord) => void;
  log: Logger;
};

export type FinishedExecutions = ReturnType<typeof openFinishedExecutions>;

/**
 * Where callers of execute wait. A job the queue store lost is added again under the same id (harmless: the claim beside
 * the request file keeps it from being dispatched twice); one that no worker began in time is taken back.
 */
export function openFinishedExecutions({
  backend,
  queue,
  history,
  workers,
  storeIncident,
  onEnded,
  log,
}: Dependencies) {
  /** When each was added again. */
  const addedAgain = new Map<string, number>();
  const takenBack = new Set<string>();
  const losses = createIncident(log, 'The queue store lost executions');
  let connectionLostAt = Date.now(); // what was before, this process did not see
  queue.on('ioredis:close', () => {
    connectionLostAt = Date.now();
  });
  const jobs = followJobs<JobData, JobEnding>({
    backend,
    queue,
    onCompleted: answered,
    onFailed: unanswered,
    onUnfinished,
    storeIncident,
  });

  async function onUnfinished(mockId: string, watched: Watched<JobData>, state: 'pending' | 'missing'): Promise<void> {
    if (state === 'missing') return addAgain(mockId, watched.data);
    const claimCheckAt = Math.max(
      watched.data.claimBy + CLAIM_SLACK_MS,
      (addedAgain.get(mockId) ?? Number.NEGATIVE_INFINITY) + TAKEN_UP_WITHIN_MS,
    );
    if (Date.now() >= claimCheckAt) await giveUpIfNeverTaken(mockId, watched);
    else watched.recheckAt = Math.min(watched.recheckAt, claimCheckAt);
  }

  async function addAgain(mockId: string, lost: JobData): Promise<void> {
    const ending = await endingInHistory(mockId);
    if (ending) return void jobs.settle(mockId, ending);
    if (takenBack.has(mockId)) return;
    losses.begins(new Error(`it knows nothing of ${mockId}`), 'they are added again under the same ids');
    addedAgain.set(mockId, Date.now());
    const data: JobData = { ...lost, addedAgain: true };
    await queue.add('execute', data, { jobId: mockId });
  }

  /** The queue may have forgotten what is known all the same. */
  async function endingInHistory(mockId: string): Promise<JobEnding | null> {
    const record = await history.get(mockId);
    if (!record?.outcome) return null;
    const body = (await history.result(mockId)) ?? '';
    const { address, state, outcome, decision } = record;
    if (outcome.code !== null) return { kind: 'unanswered', noAnswer: noAnswerOf(record, body) };
    const success = state === 'succeeded';
    const result: JobResult = { v: JOB_VERSION, address: address ?? '', success, decision, body };
    return { kind: 'answered', result };
  }

  /** Takes an execution back that no worker began in time. */
  async function giveUpIfNeverTaken(mockId: string, { data, since }: Watched<JobData>): Promise<void> {
    await takeBack(mockId, mayHaveBegun(mockId, since) ? nobodyKnows(mockId) : neverTaken(data));
  }

  /** Whether the queue store may have forgotten, by losing its data or its last second, that a worker began it. */
  function mayHaveBegun(mockId: string, since: number): boolean {
    return addedAgain.has(mockId) || connectionLostAt >= since;
  }

  /** Takes an execution back that no worker has begun, and ends it with `noAnswer`; false when one has or may have. */
  async function takeBack(mockId: string, noAnswer: NoAnswer): Promise<boolean> {
    const job = await queue.getJob(mockId);
    // Once a worker began it, only a worker can tell how it ended.
    if (!job || job.attemptsStarted > 0 || job.processedOn) return false;
    const data = jobDataSchema.parse(job.data);
    // Nor can anybody else say that one did not run which the queue store had lost.
    if (data.addedAgain && !noAnswer.mayHaveRun) return false;
    takenBack.add(mockId); // a re-check that comes now must not add it again
    try {
      if (!(await backend.removeWaiting(queue, mockId))) return false;
      jobs.settle(mockId, { kind: 'unanswered', noAnswer });
    } finally {
      takenBack.delete(mockId);
    }
    await record({ mockId, data, queuedAt: job.timestamp }, noAnswer);
    return true;
  }

  /** Into the history, which no worker does for it. */
  async function record({ mockId, data, queuedAt }: Queued, noAnswer: NoAnswer): Promise<void> {
    const open = openRecord({ mockId, data, queuedAt, progress: null });
    const record = endedRecord(open, { kind: 'unanswered', noAnswer }, Date.now());
    onEnded(record);
    await history
      .add({ record, input: data.input, result: { body: noAnswerBody(mockId, noAnswer) } })
      .catch((error) => log.warn({ mockId, err: error }, 'an execution that nobody began is missing in the history'));
  }

  function neverTaken({ target }: JobData): NoAnswer {
    if (workers() === 0) {
      const error =
        'No worker is running, so nobody could begin this execution. It did not run. Start a worker and try again.';
      return noAnswer('no-worker', error, { mayHaveRun: false });
    }
    const error = `No worker began this execution for "${target}" in time: they are full, or cannot use their SHARED_DIR. It did not run. Try again in a moment, or start more workers.`;
    return noAnswer('overloaded', error, { mayHaveRun: false });
  }

  return {
    ready: jobs.ready,
    settle: jobs.settle,
    observe: jobs.observe,
    takeBack,
    mayHaveBegun,
    close: jobs.close,
    get waiting() {
      return jobs.waiting;
    },
    /** Waits for the end of one execution, at most `timeoutMs`. Call it before the job is added. */
    async wait(mockId: string, data: JobData, timeoutMs: number): Promise<JobEnding> {
      const late = async (): Promise<JobEnding> => {
        const known = await backend.inTime(endingInHistory(mockId)).catch(() => null);
        return known ?? { kind: 'unanswered', noAnswer: neverReported(mockId, timeoutMs) };
      };
      const queuedAt = Date.now();
      try {
        const ending = await jobs.wait(mockId, data, timeoutMs, late);
        if (ending.kind === 'unanswered' && ending.noAnswer.unrecorded)
          await record({ mockId, data, queuedAt }, ending.noAnswer);
        return ending;
      } finally {
        addedAgain.delete(mockId);
        losses.ends();
      }
    },
  };
}

function answered(mockId: string, returnvalue: unknown): JobEnding {
  const parsed = jobResultSchema.safeParse(returnvalue);
  return parsed.success
    ? { kind: 'answered', result: parsed.data }
    : { kind: 'unanswered', noAnswer: answeredToNewer(mockId) };
}

/** Workers answer in the version they are asked in, so this is an API that was set back under an execution. */
export function answeredToNewer(mockId: string): NoAnswer {
  const error = `Execution ${mockId} was answered in a form that this API, which is older, does not know. It ran; look at the client, or ask an API of the newer version.`;
  return noAnswer('outcome-unknown', error, { mayHaveRun: true });
}

function unanswered(mockId: string, failedReason: string): JobEnding {
  return { kind: 'unanswered', noAnswer: noAnswerOfJob(mockId, failedReason) };
}

/** Why a job failed: what its worker said, or that the queue gave up on it. */
export function noAnswerOfJob(mockId: string, failedReason: string): NoAnswer {
  const parsed = noAnswerSchema.safeParse(parseJson(failedReason));
  if (parsed.success) return parsed.data;
  const error = `The queue gave up on execution ${mockId}: ${failedReason}. It may have run; look at the client before running it again.`;
  return noAnswer('outcome-unknown', error, { mayHaveRun: true });
}

function nobodyKnows(mockId: string): NoAnswer {
  const error = `The queue store was away while execution ${mockId} waited, and no worker took it up again. It may have run; look at the client before running it again.`;
  return noAnswer('outcome-unknown', error, { mayHaveRun: true });
}

function neverReported(mockId: string, timeoutMs: number): NoAnswer {
  const error = `No worker reported the end of execution ${mockId} within ${timeoutMs} ms. It may have run; look at the client before running it again.`;
  return noAnswer('no-answer', error, { mayHaveRun: true });
}

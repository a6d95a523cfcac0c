import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import type { Progress } from '../shared/contract/execution-record.ts';
import { type JobData, type JobResult, jobDataSchema } from '../shared/contract/job.ts';
import type { NoAnswer } from '../shared/contract/outcomes.ts';
import { createThrottledAlert, type Logger, type ThrottledAlert } from '../shared/runtime/logger.ts';
import type { Tracing } from '../shared/runtime/tracing.ts';
import { isLostToOthers } from '../shared/store/ending-worker.ts';
import { type JobWorker, type QueueBackend, queueNames } from '../shared/store/queue-backend.ts';
import type { AfterEnding, Ended, ExecutionJob } from './execution/clean-up.ts';
import type { Execution, ProcessExecution, Processed } from './execution/execute.ts';
import type { Interrupts } from './execution/interrupts.ts';
import type { ProgressReports } from './execution/progress.ts';
import { traceExecution } from './execution/trace-execution.ts';
import type { UnknownJobs } from './execution/unknown-jobs.ts';
import { createSpacing } from './placement/backoff.ts';

/** After an unexpected error an execution is tried again: its deadlines end it, not a count. */
const RETRY_MS = 1000;
const LAST_TRIES_SHARE = 0.4;

/** What is said about the queue store when it does not answer a worker. */
export const STORE_ADVICE =
  'executions go on and are reported once it is back; check that Redis runs and REDIS_URL is right';

type Dependencies = {
  backend: QueueBackend;
  processExecution: ProcessExecution;
  interrupts: Interrupts;
  progress: ProgressReports;
  afterEnding: AfterEnding;
  unknownJobs: UnknownJobs;
  /** The alert of the queue store, told of what this worker's connections report. */
  storeAlert: ThrottledAlert;
  tracing: Tracing;
  concurrency: number;
  log: Logger;
};

/** The queue's side of a worker: takes jobs, reports endings, and removes files only once an ending was accepted. */
export function createWorker({
  backend,
  processExecution,
  interrupts,
  progress,
  afterEnding,
  unknownJobs,
  storeAlert,
  tracing,
  concurrency,
  log,
}: Dependencies) {
  const running = new Map<string, Promise<Processed>>();
  const ended = new WeakMap<ExecutionJob, Ended>();
  const failures = createThrottledAlert(log, 'Executions cannot be processed');
  const crowdSpacing = createSpacing();
  let stopping = false;
  let paused = false;

  const worker: JobWorker<JobData, JobResult> = backend.openWorker(queueNames.executions, process, concurrency);
  worker.on('completed', (job) => accepted(job));
  worker.on('failed', (job) => job && accepted(job));
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) interrupts.lockLost(id);
  });
  worker.on('error', report);

  async function process(job: ExecutionJob, token?: string): Promise<JobResult> {
    const mockId = job.id ?? '';
    // BullMQ may still bring the job that it was waiting for when it was paused.
    if (stopping || paused) return handBack(job, token);
    const parsed = jobDataSchema.safeParse(job.data);
    if (!parsed.success) return passOn(job, token);
    const takenAt = Date.now();
    progress.attach(job);
    const firstAttempt = job.attemptsStarted <= 1 && !parsed.data.addedAgain;
    const processed = await processOnce({ mockId, data: parsed.data, firstAttempt, mayWait: lastTryMs(job) > 0 }).catch(
      (error) => {
        failures.begins(error, `the first one is ${mockId}; each is tried again every ${RETRY_MS} ms`);
        return null;
      },
    );
    const reached = progress.take(mockId);
    if (processed === null) return tryLater(job, RETRY_MS, token);
    if (processed.kind === 'hand-back') return handBack(job, token);
    if (processed.kind === 'later') return tryLater(job, Math.min(crowdSpacing(), lastTryMs(job)), token);
    if (processed.kind === 'newer') return tryLater(job, unknownJobs.awayMs(`the claim of ${mockId}`), token);
    failures.ends();
    unknownJobs.ends();
    const ending = withSteps(processed, reached);
    ended.set(job, ending);
    trace(mockId, takenAt, ending);
    if (ending.kind === 'unanswered') throw new Unanswered(ending.noAnswer);
    // Who asked in an earlier version reads no later one.
    return { ...ending.result, v: parsed.data.v };
  }

  /** A job that cannot be read goes to a worker that can, or ends when nobody may begin it any more. */
  async function passOn(job: ExecutionJob, token: string | undefined): Promise<never> {
    const mockId = job.id ?? '';
    const noAnswer = await unknownJobs.endingOf(mockId, job.data);
    if (!noAnswer) return tryLater(job, unknownJobs.awayMs(`job ${mockId}`), token);
    const { code, mayHaveRun } = noAnswer;
    log.info({ mockId, code, mayHaveRun }, 'not answered');
    throw new Unanswered(noAnswer);
  }

  function trace(mockId: string, takenAt: number, ending: Ended): void {
    const { steps = [] } = ending.kind === 'answered' ? ending.result : ending.noAnswer;
    const code = ending.kind === 'answered' ? 'answered' : ending.noAnswer.code;
    const answeredAt = ending.kind === 'answered' ? ending.result.answeredAt : undefined;
    traceExecution(tracing, { mockId, takenAt, steps, answeredAt, code });
  }

  /**
   * A queue store that forgot an execution gives it out again, perhaps to the worker that still has it. Then both jobs
   * wait for the same end, and the one the queue believes in reports it.
   */
  function processOnce(execution: Execution): Promise<Processed> {
    const { mockId } = execution;
    const processing = running.get(mockId) ?? processExecution(execution).finally(() => running.delete(mockId));
    running.set(mockId, processing);
    return processing;
  }

  function accepted(job: ExecutionJob): void {
    const ending = ended.get(job);
    if (ending) afterEnding.begin(job, ending);
  }

  function report(error: unknown): void {
    if (isLostToOthers(error)) log.debug({ err: error }, 'another worker has the execution by now, or it has ended');
    else storeAlert.begins(error, STORE_ADVICE);
  }

  /** When even this is refused, the job is another worker's, or its lock lapses: either way somebody goes on with it. */
  async function handBack(job: ExecutionJob, token: string | undefined): Promise<never> {
    await job.moveToWait(token).catch(report);
    throw new WaitingError();
  }

  async function tryLater(job: ExecutionJob, afterMs: number, token: string | undefined): Promise<never> {
    await job.moveToDelayed(Date.now() + afterMs, token).catch(report);
    throw new DelayedError();
  }

  return {
    /** Executions this worker has. */
    get open() {
      return running.size;
    },
    /** Takes jobs from now on. */
    run(): void {
      paused = false;
      // A paused worker may have ended its loop or not, and one that is paused does nothing when it is run.
      if (worker.isPaused()) worker.resume();
      else worker.run().catch((error) => log.error({ err: error }, 'the worker loop ended'));
    },
    /** Takes no more jobs; those it has go on. */
    async pause(): Promise<void> {
      paused = true;
      await worker.pause(true);
    },
    /** Gives every open wait to other workers at once, and lets go. Does not end while the queue store is away. */
    async stop(): Promise<void> {
      stopping = true;
      const closed = worker.close();
      interrupts.handOver();
      await closed;
      await afterEnding.done();
    },
  };
}

/**
 * How long a job may still be put back, in ms. The last part of its time is kept for refusing it with the reason it has,
 * and not all that wait for one client come back at the same moment.
 */
function lastTryMs({ timestamp, data: { claimBy } }: ExecutionJob): number {
  const share = LAST_TRIES_SHARE * (claimBy - timestamp);
  const left = claimBy - share - Date.now();
  return left <= 0 ? 0 : left + Math.random() * share * 0.8;
}

/** The job tells the whole story, so that nobody needs another source while it is there. */
function withSteps(ending: Ended, reached: Progress | null): Ended {
  if (!reached) return ending;
  const { steps } = reached;
  return ending.kind === 'answered'
    ? { ...ending, result: { ...ending.result, steps } }
    : { ...ending, noAnswer: { ...ending.noAnswer, address: ending.noAnswer.address ?? reached.address, steps } };
}

/** Carries the ending of an execution to whoever waits for it. Never tried again: it is an outcome, not an accident. */
class Unanswered extends UnrecoverableError {
  constructor(noAnswer: NoAnswer) {
    super(JSON.stringify(noAnswer));
    this.stack = '';
  }
}

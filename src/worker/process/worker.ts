import { unanswered } from '../../shared/contract/endings/ending.ts';
import { errorOf } from '../../shared/contract/endings/no-answer.ts';
import { type JobData, jobDataSchema } from '../../shared/contract/job.ts';
import { queueNames } from '../../shared/contract/queue-names.ts';
import { random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import type { Records, TakenJob } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { isFault } from '../../shared/reasons/codes.ts';
import { cached, POLL_MS, RETRY_MS, SOON_MS, together } from '../../shared/runtime/async.ts';
import { createThrottledAlert, type Logger, type ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import type { Execute } from '../execution/execute.ts';
import type { Execution, Interrupts, Outcome, Postponed, ProgressReports } from '../execution/execution.ts';
import { createBackoff, type UnknownJobs } from '../execution/unknown-jobs.ts';

/** The advice in a worker's log when the queue store does not answer. */
export const STORE_ADVICE =
  'executions go on and are reported once it is back; check that Redis runs and REDIS_URL is right, or make room where the store is';

type WorkerDependencies = {
  /** The id by which other processes know this worker. */
  id: string;
  backend: QueueBackend;
  execute: Execute;
  interrupts: Interrupts;
  progress: ProgressReports;
  unknownJobs: UnknownJobs;
  records: Records;
  /** The alert of the queue store, told of what this worker's connections report. */
  storeAlert: ThrottledAlert;
  concurrency: number;
  log: Logger;
};

/** The queue's side of a worker: takes jobs, and processes each. */
export function createWorker({ id, backend, interrupts, storeAlert, concurrency, log, ...parts }: WorkerDependencies) {
  let [paused, stopping] = [false, false];
  const jobs = createProcessJob({ ...parts, log });
  // Thousands of jobs that come back at once share one look.
  const findOthers = cached(POLL_MS, async () =>
    [...(await backend.workers.read())].some(([other, { takesJobs }]) => takesJobs && other !== id),
  );
  const worker = backend.openWorker(
    queueNames.executions,
    // The queue may still bring the job that it was waiting for when it was paused.
    async (job) => (stopping || (paused && (await hasOthers())) ? job.giveBack() : jobs.process(job)),
    {
      concurrency,
      records: parts.records,
      onLost(ids) {
        for (const lost of ids) interrupts.lockLost(lost);
      },
      onStalled: createTellOfDead(log),
      onDefect: (mockId, error) => log.error({ err: error, mockId }, 'an execution failed by a defect'),
      onError: (error) => storeAlert.begins(error, STORE_ADVICE),
    },
  );

  /**
   * Whether another worker may take a job that goes back to the queue. The only worker goes on with it: it refuses it and says
   * why. Left in the queue it would count as begun, and its caller would be told that it may have run.
   */
  const hasOthers = () => findOthers('').catch(() => true);

  return {
    /** Executions this worker has. */
    get open() {
      return jobs.open();
    },
    /** Takes jobs from now on. */
    run(): void {
      paused = false;
      worker.run();
    },
    /** Takes no more jobs; those it has go on. */
    async pause(): Promise<void> {
      paused = true;
      await worker.pause();
    },
    /** Gives every open wait to other workers at once, and lets go. Does not end while the queue store is away. */
    async stop(): Promise<void> {
      stopping = true;
      const closed = worker.close();
      interrupts.handOver();
      await closed;
    },
  };
}

/** Tells once of all executions of a worker that died: they come in the same moment. */
function createTellOfDead(log: Logger) {
  let ids: string[] = [];
  const tell = together(SOON_MS, () => {
    const fields = { executions: ids.length, first: ids[0] };
    ids = [];
    log.warn(fields, 'a worker died or stood still: its executions go on at another one');
  });
  return (id: string): void => {
    ids.push(id);
    tell();
  };
}

const LAST_TRIES_SHARE = 0.4;

type ProcessJobDependencies = {
  execute: Execute;
  progress: ProgressReports;
  unknownJobs: UnknownJobs;
  log: Logger;
};

/** Processes one job of the queue: executes it, and finishes it with its ending. */
function createProcessJob({ execute, progress, unknownJobs, log }: ProcessJobDependencies) {
  const failures = createThrottledAlert(log, 'Executions cannot be processed', { withStack: true });
  const crowdBackoff = createBackoff();
  const runs = createRuns(execute);

  async function process(job: TakenJob): Promise<void> {
    const parsed = jobDataSchema.safeParse(job.data);
    if (!parsed.success) return passOn(job);
    const { data } = parsed;
    progress.attach(job);
    const firstAttempt = job.isFirstDelivery && !data.addedAgain;
    const mayWait = lastTryMs(job, data) > 0;
    const outcome = await runs
      .outcomeOf({ mockId: job.id, data, takenAt: time.now(), firstAttempt, mayWait })
      .catch((error) => {
        failures.begins(error, `the first one is ${job.id}; each is tried again every ${RETRY_MS} ms`);
        return null;
      });
    if (outcome === null) return job.snooze(RETRY_MS);
    if (outcome.kind !== 'ended') return postpone(job, data, outcome);
    failures.ends();
    unknownJobs.ends();
    const finished = await job.finish(outcome.ending);
    if (finished.kind === 'finished') await execute.finish({ job, data }, outcome, finished);
    else log.debug({ mockId: job.id }, 'another worker has the execution by now, or it has ended');
  }

  function postpone(job: TakenJob, data: JobData, { kind }: Postponed): Promise<void> {
    if (kind === 'give-back') return job.giveBack();
    const ms =
      kind === 'snooze' ? Math.min(crowdBackoff(), lastTryMs(job, data)) : unknownJobs.awayMs(`the claim of ${job.id}`);
    return job.snooze(ms);
  }

  /** A job that cannot be read goes to a worker that can, or ends when no worker may begin it any more. */
  async function passOn(job: TakenJob): Promise<void> {
    const mockId = job.id;
    const noAnswer = await unknownJobs.endingOf(mockId, job.data);
    if (!noAnswer) return job.snooze(unknownJobs.awayMs(`job ${mockId}`));
    const { code, reason, mayHaveRun } = noAnswer;
    const error = errorOf(noAnswer);
    log[isFault(code) ? 'warn' : 'info']({ mockId, code, reason, mayHaveRun, error }, 'not answered');
    await job.finish(unanswered(noAnswer));
  }

  return {
    process,
    /** Executions this worker has. */
    open: runs.open,
  };
}

/** A queue store that forgot an execution gives it out again, perhaps to this worker. Then both jobs wait for the same end. */
function createRuns(execute: Execute) {
  const running = new Map<string, Promise<Outcome>>();
  return {
    outcomeOf(execution: Execution): Promise<Outcome> {
      const { mockId } = execution;
      const known = running.get(mockId);
      if (known) return known;
      const run = execute.run(execution).finally(() => running.delete(mockId));
      running.set(mockId, run);
      return run;
    },
    open: () => running.size,
  };
}

/**
 * How long a job may still be put back, in ms. The last 40 % of its time is kept free, so that it can be refused with its real
 * reason. The random part keeps executions that wait for one client from coming back together.
 */
function lastTryMs({ addedAt }: TakenJob, { claimBy }: JobData): number {
  const share = LAST_TRIES_SHARE * (claimBy - addedAt);
  const left = claimBy - share - time.now();
  return left <= 0 ? 0 : left + random.fraction() * share * 0.8;
}

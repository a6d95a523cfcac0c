import { unanswered } from '../../shared/contract/endings/ending.ts';
import { errorOf } from '../../shared/contract/endings/no-answer.ts';
import { type JobData, jobDataSchema } from '../../shared/contract/job.ts';
import { random } from '../../shared/ports/random.ts';
import { time } from '../../shared/ports/time.ts';
import type { TakenJob } from '../../shared/queue/queue.ts';
import { isFault } from '../../shared/reasons/codes.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Execute } from './execute.ts';
import type { Execution, Outcome, Postponed, ProgressReports } from './execution.ts';
import { createBackoff, type UnknownJobs } from './unknown-jobs.ts';

/** After an unexpected error an execution is tried again: its deadlines end it, not a count. */
const RETRY_MS = 1000;
const LAST_TRIES_SHARE = 0.4;

type ProcessJobDependencies = {
  execute: Execute;
  progress: ProgressReports;
  unknownJobs: UnknownJobs;
  log: Logger;
};

/** Processes one job of the queue: executes it, and finishes it with its ending. */
export function createProcessJob({ execute, progress, unknownJobs, log }: ProcessJobDependencies) {
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

import { DelayedError, WaitingError } from 'bullmq';
import { outcomeOf } from '../../shared/contract/endings/codes.ts';
import { type Ending, unanswered } from '../../shared/contract/endings/ending.ts';
import { jobDataSchema } from '../../shared/contract/job.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import { random } from '../../shared/seams/random.ts';
import { time } from '../../shared/seams/time.ts';
import { createBackoff } from './backoff.ts';
import type { Execute } from './execute.ts';
import type { Ended, Execution, Outcome, Postponed } from './execution.ts';
import type { ExecutionJob } from './finish.ts';
import type { ProgressReports } from './progress.ts';
import type { UnknownJobs } from './unknown-jobs.ts';

/** After an unexpected error an execution is tried again: its deadlines end it, not a count. */
const RETRY_MS = 1000;
const LAST_TRIES_SHARE = 0.4;

type ProcessJobDependencies = {
  execute: Execute;
  progress: ProgressReports;
  unknownJobs: UnknownJobs;
  /** The queue refused something. */
  onRefused: (error: unknown) => void;
  log: Logger;
};

/** Processes one job of the queue: executes it, and completes it with its ending. */
export function createProcessJob(parts: ProcessJobDependencies) {
  const { progress, unknownJobs, log } = parts;
  const runs = createRuns(parts);
  const failures = createThrottledAlert(log, 'Executions cannot be processed', { withStack: true });
  const crowdBackoff = createBackoff();

  async function process(job: ExecutionJob, token?: string): Promise<Ending> {
    const mockId = job.id ?? '';
    const parsed = jobDataSchema.safeParse(job.data);
    if (!parsed.success) return passOn(job, token);
    progress.attach(job);
    const firstAttempt = job.attemptsStarted <= 1 && !parsed.data.addedAgain;
    const execution = { mockId, data: parsed.data, takenAt: time.now(), firstAttempt, mayWait: lastTryMs(job) > 0 };
    const outcome = await runs.outcomeOf(execution, job).catch((error) => {
      failures.begins(error, `the first one is ${mockId}; each is tried again every ${RETRY_MS} ms`);
      return null;
    });
    if (outcome === null) return snooze(job, RETRY_MS, token);
    if (outcome.kind !== 'ended') return postpone(job, outcome, token);
    failures.ends();
    unknownJobs.ends();
    return outcome.ending;
  }

  function postpone(job: ExecutionJob, { kind }: Postponed, token: string | undefined): Promise<never> {
    if (kind === 'give-back') return release(job, token);
    const ms =
      kind === 'snooze' ? Math.min(crowdBackoff(), lastTryMs(job)) : unknownJobs.awayMs(`the claim of ${job.id}`);
    return snooze(job, ms, token);
  }

  /** A job that cannot be read goes to a worker that can, or ends when no worker may begin it any more. */
  async function passOn(job: ExecutionJob, token: string | undefined): Promise<Ending> {
    const mockId = job.id ?? '';
    const noAnswer = await unknownJobs.endingOf(mockId, job.data);
    if (!noAnswer) return snooze(job, unknownJobs.awayMs(`job ${mockId}`), token);
    const { code, mayHaveRun, error } = noAnswer;
    log[outcomeOf(code).fault ? 'warn' : 'info']({ mockId, code, mayHaveRun, reason: error }, 'not answered');
    return unanswered(noAnswer);
  }

  /** Requeues a job now. If `moveToWait` fails, our lock is lost or will expire; another worker continues. */
  async function release(job: ExecutionJob, token: string | undefined): Promise<never> {
    await job.moveToWait(token).catch(parts.onRefused);
    throw new WaitingError();
  }

  async function snooze(job: ExecutionJob, ms: number, token: string | undefined): Promise<never> {
    await job.moveToDelayed(time.now() + ms, token).catch(parts.onRefused);
    throw new DelayedError();
  }

  return { process, release, accepted: runs.accepted, done: runs.done, open: runs.open };
}

/**
 * A queue store that forgot an execution gives it out again, perhaps to the worker that still has it. Then both jobs wait
 * for the same end, and the one the queue believes in reports it.
 */
function createRuns({ execute, log }: Pick<ProcessJobDependencies, 'execute' | 'log'>) {
  const running = new Map<string, Promise<Outcome>>();
  const endedOf = new WeakMap<ExecutionJob, Ended>();
  const accepted = new WeakSet<Ended>();
  const finishing = new Set<Promise<void>>();

  function start(execution: Execution): Promise<Outcome> {
    const run = execute.run(execution).finally(() => running.delete(execution.mockId));
    running.set(execution.mockId, run);
    return run;
  }

  return {
    async outcomeOf(execution: Execution, job: ExecutionJob): Promise<Outcome> {
      const outcome = await (running.get(execution.mockId) ?? start(execution));
      if (outcome.kind === 'ended') endedOf.set(job, outcome);
      return outcome;
    },
    /** The queue accepted how a job ended. */
    accepted(job: ExecutionJob): void {
      const ended = endedOf.get(job);
      if (!ended || accepted.has(ended)) return;
      accepted.add(ended);
      const finish = execute
        .finish(job, ended)
        .catch((error) => log.error({ err: error, mockId: job.id }, 'an execution that ended could not be finished'))
        .finally(() => finishing.delete(finish));
      finishing.add(finish);
    },
    /** Resolves when nothing that follows an accepted ending is under way any more. */
    done: async () => void (await Promise.all(finishing)),
    /** Executions this worker has. */
    open: () => running.size,
  };
}

/**
 * How long a job may still be put back, in ms. The last 40 % of its time is kept free, so that it can be refused with its real
 * reason. The random part keeps executions that wait for one client from coming back together.
 */
function lastTryMs({ timestamp, data: { claimBy } }: ExecutionJob): number {
  const share = LAST_TRIES_SHARE * (claimBy - timestamp);
  const left = claimBy - share - time.now();
  return left <= 0 ? 0 : left + random.fraction() * share * 0.8;
}

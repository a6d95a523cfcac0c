import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import { type JobData, type JobResult, jobDataSchema } from '../shared/contract.ts';
import { createIncident, type Logger } from '../shared/logger.ts';
import type { NoAnswer } from '../shared/outcomes.ts';
import { type JobWorker, type QueueBackend, queueNames } from '../shared/queue.ts';
import type { Claim } from './channel/claim.ts';
import { removeFiles } from './channel/request-file.ts';
import type { Interrupts } from './interrupts.ts';
import { type ProcessExecution, placeOf, type Step } from './process-execution.ts';

/** After an unexpected error an execution is tried again: its deadlines end it, not a count. */
const RETRY_MS = 1000;
/** A completion that was not accepted by then never will be: another worker has the execution. */
const ACCEPTED_WITHIN_MS = 60_000;

type ExecutionJob = Job<JobData, JobResult>;

type Dependencies = {
  backend: QueueBackend;
  processExecution: ProcessExecution;
  interrupts: Interrupts;
  concurrency: number;
  sharedDir: string;
  atStep: (step: Step, mockId: string) => Promise<void> | void;
  log: Logger;
};

/** The queue's side of a worker: takes jobs, reports endings, and removes files only once an ending was accepted. */
export function createWorker({
  backend,
  processExecution,
  interrupts,
  concurrency,
  sharedDir,
  atStep,
  log,
}: Dependencies) {
  const ended = new Map<string, Claim>();
  const incident = createIncident(log, 'The queue store cannot be used');
  let stopping = false;
  let removals = Promise.resolve();

  const worker: JobWorker<JobData, JobResult> = backend.openWorker(queueNames.executions, process, concurrency);
  worker.on('completed', (job) => accepted(job.id));
  worker.on('failed', (job) => accepted(job?.id));
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) interrupts.send(id, 'lock-lost');
  });
  worker.on('error', (error) => incident.begins(error, 'executions go on and are reported once it is back'));
  worker.on('active', () => incident.ends());

  async function process(job: ExecutionJob, token?: string): Promise<JobResult> {
    const mockId = job.id ?? '';
    if (stopping) return handBack(job, token);
    const data = jobDataSchema.safeParse(job.data);
    if (!data.success) {
      log.warn({ mockId, v: job.data.v }, 'a job of another version is handed back; start a worker that knows it');
      return tryLater(job, token);
    }
    const processed = await processExecution({
      mockId,
      data: data.data,
      firstAttempt: job.attemptsStarted <= 1,
    }).catch((error) => {
      log.error(
        { mockId, app: data.data.app, err: error },
        `an execution could not be processed; it is tried again in ${RETRY_MS} ms`,
      );
      return null;
    });
    switch (processed?.kind) {
      case undefined:
        return tryLater(job, token);
      case 'hand-back':
        return handBack(job, token);
      case 'answered':
        remember(mockId, processed.claim);
        log.info(
          { mockId, app: data.data.app, address: processed.result.address, success: processed.result.success },
          'answered',
        );
        return processed.result;
      case 'unanswered':
        if (processed.claim) remember(mockId, processed.claim);
        log.info(
          { mockId, app: data.data.app, code: processed.noAnswer.code, mayHaveRun: processed.noAnswer.mayHaveRun },
          'not answered',
        );
        throw new Unanswered(processed.noAnswer);
    }
  }

  /** Only the worker whose ending counted removes files; what the others leave is removed by it, or by the sweep. */
  function remember(mockId: string, claim: Claim): void {
    ended.set(mockId, claim);
    setTimeout(() => ended.delete(mockId), ACCEPTED_WITHIN_MS).unref();
  }

  function accepted(mockId: string | undefined): void {
    const claim = mockId === undefined ? undefined : ended.get(mockId);
    if (!claim) return;
    ended.delete(claim.mockId);
    const removal = (async () => {
      await atStep('before-removal', claim.mockId);
      await removeFiles(placeOf(sharedDir, claim), claim);
    })().catch((error) => log.warn({ mockId: claim.mockId, err: error }, 'files were left for the sweep'));
    removals = Promise.all([removals, removal]).then(() => {});
  }

  return {
    /** Takes jobs from now on. */
    run(): void {
      if (!worker.isRunning()) worker.run().catch((error) => log.error({ err: error }, 'the worker loop ended'));
      else worker.resume();
    },
    /** Takes no more jobs; those it has go on. */
    async pause(): Promise<void> {
      await worker.pause(true);
    },
    /** Gives every open wait to other workers at once, and lets go. */
    async stop(): Promise<void> {
      stopping = true;
      const closed = worker.close();
      interrupts.sendAll('handover');
      // close() never resolves while the store is away.
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 3000))]);
      await removals;
    },
  };
}

/** Carries the ending of an execution to whoever waits for it. Never tried again: it is an outcome, not an accident. */
class Unanswered extends UnrecoverableError {
  constructor(noAnswer: NoAnswer) {
    super(JSON.stringify(noAnswer));
    this.stack = '';
  }
}

async function handBack(job: ExecutionJob, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}

async function tryLater(job: ExecutionJob, token: string | undefined): Promise<never> {
  await job.moveToDelayed(Date.now() + RETRY_MS, token);
  throw new DelayedError();
}

import type { Ending } from '../../shared/contract/endings/ending.ts';
import type { JobData } from '../../shared/contract/job.ts';
import { shareFor } from '../../shared/runtime/share-for.ts';
import type { Logger, ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import { time } from '../../shared/seams/time.ts';
import { isLostToOthers } from '../../shared/store/queue/ending-worker.ts';
import type { ExecutionQueue, JobWorker, QueueBackend } from '../../shared/store/queue/queue-backend.ts';
import { queueNames } from '../../shared/store/queue/queue-names.ts';
import type { Execute } from '../execution/execute.ts';
import type { Interrupts } from '../execution/interrupts.ts';
import { createProcessJob } from '../execution/process-job.ts';
import type { ProgressReports } from '../execution/progress.ts';
import type { UnknownJobs } from '../execution/unknown-jobs.ts';

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
  /** The alert of the queue store, told of what this worker's connections report. */
  storeAlert: ThrottledAlert;
  concurrency: number;
  log: Logger;
};

/** Those of one worker come in the same moment. */
const DEAD_TOGETHER_MS = 250;

/** A look for another worker is good for this long. */
const OTHERS_MS = 1000;

/** The queue's side of a worker: takes jobs, and hands each to `execution/process-job.ts`. */
export function createWorker({ id, backend, interrupts, storeAlert, concurrency, log, ...parts }: WorkerDependencies) {
  let [paused, stopping] = [false, false];
  const onRefused = (error: unknown) => {
    if (isLostToOthers(error)) log.debug({ err: error }, 'another worker has the execution by now, or it has ended');
    else storeAlert.begins(error, STORE_ADVICE);
  };
  const jobs = createProcessJob({ ...parts, onRefused, log });
  // A connection for each look: thousands of jobs that come back at once share one.
  const lookForOthers = shareFor(OTHERS_MS, async () => {
    const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
    try {
      return (await backend.findWorkers(queue, id)) > 0;
    } finally {
      await queue.close();
    }
  });
  const worker: JobWorker<JobData, Ending> = backend.openWorker(
    queueNames.executions,
    // BullMQ may still bring the job that it was waiting for when it was paused.
    async (job, token) =>
      stopping || (paused && (await hasOthers())) ? jobs.release(job, token) : jobs.process(job, token),
    concurrency,
    { id },
  );
  worker.on('completed', (job) => jobs.accepted(job));
  worker.on('failed', (job, error) => log.error({ err: error, mockId: job?.id }, 'an execution failed by a defect'));
  worker.on('lockRenewalFailed', (ids: string[]) => {
    for (const id of ids) interrupts.lockLost(id);
  });
  worker.on('stalled', createTellOfDead(log));
  worker.on('error', onRefused);

  /**
   * Whether another worker may take a job that goes back to the queue. The only worker goes on with it: it refuses it and says
   * why. Left in the queue it would count as begun, and its caller would be told that it may have run.
   */
  const hasOthers = () => lookForOthers('').catch(() => true);

  return {
    /** Executions this worker has. */
    get open() {
      return jobs.open();
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
      await jobs.done();
    },
  };
}

/** Tells once of all executions of a worker that died. */
function createTellOfDead(log: Logger) {
  let ids: string[] = [];
  const tell = () => {
    const told = { executions: ids.length, first: ids[0] };
    ids = [];
    log.warn(told, 'a worker died or stood still: its executions go on at another one');
  };
  return (id: string): void => {
    if (ids.push(id) === 1) time.setTimeout(tell, DEAD_TOGETHER_MS);
  };
}

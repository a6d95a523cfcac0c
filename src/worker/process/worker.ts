import { queueNames } from '../../shared/contract/queue-names.ts';
import { time } from '../../shared/ports/time.ts';
import type { Records } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { cached } from '../../shared/runtime/async.ts';
import type { Logger, ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import type { Execute } from '../execution/execute.ts';
import type { Interrupts, ProgressReports } from '../execution/execution.ts';
import { createProcessJob } from '../execution/process-job.ts';
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
  records: Records;
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
  const jobs = createProcessJob({ ...parts, log });
  // Thousands of jobs that come back at once share one look.
  const findOthers = cached(OTHERS_MS, async () => (await backend.findWorkers(id)) > 0);
  const worker = backend.openWorker(
    queueNames.executions,
    // The queue may still bring the job that it was waiting for when it was paused.
    async (job) => (stopping || (paused && (await hasOthers())) ? job.giveBack() : jobs.process(job)),
    {
      id,
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

/** Tells once of all executions of a worker that died. */
function createTellOfDead(log: Logger) {
  let ids: string[] = [];
  const tell = () => {
    const fields = { executions: ids.length, first: ids[0] };
    ids = [];
    log.warn(fields, 'a worker died or stood still: its executions go on at another one');
  };
  return (id: string): void => {
    if (ids.push(id) === 1) time.setTimeout(tell, DEAD_TOGETHER_MS);
  };
}

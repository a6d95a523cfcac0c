import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { random } from '../../shared/ports/random.ts';
import { listenForCancels } from '../../shared/queue/cancels.ts';
import { atMost } from '../../shared/runtime/async.ts';
import { createThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import { createMetrics } from '../../shared/runtime/telemetry/metrics.ts';
import { noTracing } from '../../shared/runtime/telemetry/tracing.ts';
import { startUpkeep, type Task } from '../../shared/runtime/upkeep.ts';
import { createBatchWorker } from '../batches/batch-worker.ts';
import { createAnswerQuery } from '../queries/answer-query.ts';
import { createErase } from '../queries/erase.ts';
import { createFence } from '../queries/fence.ts';
import { createQueryWorker } from '../queries/query-worker.ts';
import { createSavedCases } from '../queries/saved-cases.ts';
import { sweepTasks } from '../upkeep/sweep-tasks.ts';
import { createDirectoryCheck, type StoreState, type WorkerState } from './check-directory.ts';
import { createClientCensus } from './client-census.ts';
import {
  type AllOptions,
  createDirectoryParts,
  createExecutionParts,
  type DirectoryParts,
  type WorkerOptions,
} from './parts.ts';
import { createWorker } from './worker.ts';
import { registerWorkerMetrics } from './worker-metrics.ts';

/** A task for the threads that wait for files: it compresses nothing, and touches no file. */
const threads = () => promisify(deflateRaw)(Buffer.alloc(0));
/** A late answer is found within it. */
const SWEEP_EVERY_MS = 60_000;
const CHECK = 'checking the shared directory';
/** A start does not wait longer for the queue store; the checks go on until it is there. */
const CONNECT_WITHIN_MS = 1000;
/** While the queue store is away nothing can be handed over or closed: the locks of open executions lapse then. */
const STOP_WITHIN_MS = 3000;

export type RunningWorker = {
  /** Whether it takes jobs, and if not, why. */
  state(): WorkerState;
  /** Whether the queue store answers it and takes writes, and if not, why. */
  store(): StoreState;
  /** Gives its open waits to other workers and lets go of everything. */
  stop(): Promise<void>;
};

/** Starts the side that touches the shared directory. It takes jobs as long as that directory is the right one. */
export async function startWorker(given: WorkerOptions): Promise<RunningWorker> {
  const options = {
    metrics: createMetrics(),
    tracing: noTracing,
    atStep: () => {},
    sweepEveryMs: SWEEP_EVERY_MS,
    ...given,
  };
  const { settings, backend, log } = options;
  const directory = createDirectoryParts(options);
  const execution = createExecutionParts(options, directory);
  const { interrupts, watcher, lateResults, workload } = execution;
  const storeAlert = createThrottledAlert(log, 'The queue store cannot be used');
  const id = random.uuid();
  const worker = createWorker({ ...execution, id, backend, storeAlert, concurrency: settings.WORKER_CONCURRENCY, log });
  const { history, privacy } = execution;
  const ofBatches = { ...directory, backend, history, privacy, settings, metrics: options.metrics, log };
  const batches = createBatchWorker(ofBatches);
  const consumers = takingJobs(worker, batches);
  const announce = {
    taking: (reason: string | null) => backend.probe().then(() => backend.workers.announce(id, reason)),
    idle: (reason?: string) => backend.workers.withdraw(id, reason),
  };
  const parts = { ...directory, ...execution, worker: consumers, announce, threads, storeAlert, log };
  const check = createDirectoryCheck(parts);
  const onSwept = register(options, directory, { ...check, openWaits: () => worker.open });
  const queries = openQueries(options, directory);
  const cancels = listenForCancels(backend, interrupts.cancel);
  await atMost(CONNECT_WITHIN_MS, backend.connected);
  await check.check();
  // An API that does not hear of the load takes calls as before.
  const reportLoad = () => backend.workers.reportLoad(id, workload.load()).catch(() => {});
  const tasks: Task[] = [
    { name: CHECK, everyMs: 1000, run: check.check },
    { name: 'telling the load', everyMs: 250, run: reportLoad },
    { name: 'letting go of idle directories', everyMs: 10_000, run: watcher.forgetIdle },
    ...sweepTasks({ ...directory, everyMs: options.sweepEveryMs, onResult: lateResults.keep, onSwept, log }),
  ];
  const upkeep = startUpkeep(tasks, (error, name) => log.error({ err: error }, `${name} failed`));

  return {
    state: () => ({ ...check.state() }),
    store: check.store,
    async stop() {
      // An execution that is just beginning has to watch its directory before it can be handed over.
      const handedOver = worker.stop().finally(() => watcher.close());
      const others = [
        upkeep.stop(),
        upkeep.over(CHECK).then(() => announce.idle()),
        cancels.close(),
        queries.close(),
        batches.stop(),
      ];
      await atMost(STOP_WITHIN_MS, Promise.allSettled([handedOver, ...others]));
    },
  };
}

function openQueries({ settings, backend, log }: AllOptions, directory: DirectoryParts) {
  const answerQuery = createAnswerQuery({
    ...directory,
    fence: createFence(directory),
    erase: createErase(directory),
    savedCases: createSavedCases(directory),
  });
  const { fault } = directory.sharedDirectory;
  return createQueryWorker({ backend, answerQuery, fault, waitForOthersMs: settings.QUEUE_TIMEOUT_MS / 2, log });
}

type Consumer = { run(): void; pause(): Promise<void> };

/** Executions and batches are taken by the same workers. */
export function takingJobs(...consumers: Consumer[]): Consumer {
  return {
    run() {
      for (const consumer of consumers) consumer.run();
    },
    async pause() {
      await Promise.all(consumers.map((consumer) => consumer.pause()));
    },
  };
}

type Observed = { openWaits: () => number; state: () => WorkerState; store: () => StoreState };

/** Registers the metrics of this worker, and returns what counts the findings of the sweep. */
function register({ metrics, settings }: AllOptions, directory: DirectoryParts, { openWaits, state, store }: Observed) {
  return registerWorkerMetrics(metrics, {
    capacity: settings.WORKER_CONCURRENCY,
    openWaits,
    takesJobs: () => state().takesJobs,
    storeUp: () => store().up,
    fileClockAheadMs: directory.sharedDirectory.clock.aheadMs,
    census: createClientCensus(directory),
    byApp: directory.byApp,
    noticing: directory.watcher.noticing,
  }).swept;
}

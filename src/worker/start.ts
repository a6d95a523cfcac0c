import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { createPrivacy } from '../shared/privacy/privacy.ts';
import { atMost } from '../shared/runtime/at-most.ts';
import { createThrottledAlert, type Logger } from '../shared/runtime/logger.ts';
import { createMetrics, type Metrics } from '../shared/runtime/metrics.ts';
import { every } from '../shared/runtime/periodic.ts';
import { historyLimitsOf, type Settings } from '../shared/runtime/settings.ts';
import { noTracing, type Tracing } from '../shared/runtime/tracing.ts';
import { listenForCancels } from '../shared/store/control.ts';
import { createPrivateHistory } from '../shared/store/private-history.ts';
import type { QueueBackend } from '../shared/store/queue-backend.ts';
import { createBatchWorker } from './batches/batch-worker.ts';
import { createCaseFiles } from './cases/case-files.ts';
import { createDirectoryCheck, type StoreState, type WorkerState } from './check-directory.ts';
import { createClients } from './clients/clients.ts';
import { createPublishedMetadata } from './clients/published-metadata.ts';
import { createCleanUp } from './execution/clean-up.ts';
import { createExecute } from './execution/execute.ts';
import { createInterrupts } from './execution/interrupts.ts';
import { createLateResults } from './execution/late-results.ts';
import { createProgressReports } from './execution/progress.ts';
import { createRecord } from './execution/record.ts';
import type { AtStep } from './execution/steps.ts';
import { createUnknownJobs } from './execution/unknown-jobs.ts';
import { createClaims } from './files/claims.ts';
import { hangingDirectories } from './files/directory-limit.ts';
import { createFlush } from './files/flush.ts';
import { createKeptAnswers } from './files/kept-answers.ts';
import { createMemoryBudget } from './files/memory-budget.ts';
import { createSharedDirectory } from './files/shared-directory.ts';
import { createResultWatcher } from './files/watcher.ts';
import { createClientCensus } from './placement/client-census.ts';
import { createClientLoad } from './placement/client-load.ts';
import { createClientSlots } from './placement/client-slots.ts';
import { createInspections } from './placement/inspections.ts';
import { createListAlive } from './placement/list-alive.ts';
import { createResolveTarget } from './placement/resolve-target.ts';
import { createUnwritableClients } from './placement/unwritable-clients.ts';
import { createAnswerQuery } from './queries/answer-query.ts';
import { createErase } from './queries/erase.ts';
import { createFence } from './queries/fence.ts';
import { createQueryWorker } from './queries/query-worker.ts';
import { createSavedCases } from './queries/saved-cases.ts';
import { createRules } from './rules/rules.ts';
import { startSweeps } from './upkeep/start-sweeps.ts';
import { createWorker } from './worker.ts';
import { countPassedOver, countUnreadable, registerWorkerMetrics } from './worker-metrics.ts';

const CHECK_DIRECTORY_EVERY_MS = 1000;
/** As files; in memory each takes several times its size for a moment. */
const LARGE_RESULTS_BYTES = 32 * 1024 * 1024;
/** A start does not wait longer for the queue store; the checks go on until it is there. */
const CONNECT_WITHIN_MS = 1000;
/** While the queue store is away nothing can be handed over or closed: the locks of open executions lapse then. */
const STOP_WITHIN_MS = 3000;

export type RunningWorker = {
  /** Whether it takes jobs, and if not, why. */
  state(): WorkerState;
  /** Whether the queue store answers it and takes writes, and if not, why. */
  store(): StoreState;
  /** The directories below the shared one in which a file operation does not come to its end. */
  hanging(): string[];
  /** Gives its open waits to other workers and lets go of everything. */
  stop(): Promise<void>;
};

type Options = {
  settings: Settings;
  backend: QueueBackend;
  sharedDir: string;
  log: Logger;
  /** Shared with the API when both live in one process. */
  metrics?: Metrics;
  tracing?: Tracing;
  atStep?: AtStep;
};
type AllOptions = Required<Options>;

/** Starts the side that touches the shared directory. It takes jobs as long as that directory is the right one. */
export async function startWorker(given: Options): Promise<RunningWorker> {
  const options = { metrics: createMetrics(), tracing: noTracing, atStep: () => {}, ...given };
  const { settings, backend, log } = options;
  const directory = createDirectoryParts(options);
  const execution = createExecutionParts(options, directory);
  const { interrupts, watcher, lateResults } = execution;
  const storeAlert = createThrottledAlert(log, 'The queue store cannot be used');
  const id = randomUUID();
  const worker = createWorker({ ...execution, id, backend, storeAlert, concurrency: settings.WORKER_CONCURRENCY, log });
  const { history, privacy } = execution;
  const ofBatches = { ...directory, backend, history, privacy, settings, metrics: options.metrics, log };
  const batches = createBatchWorker(ofBatches);
  const takers = takingJobs(worker, batches);
  const announce = { taking: () => backend.takers.tell(id), idle: () => backend.takers.withdraw(id) };
  const check = createDirectoryCheck({ ...directory, ...execution, worker: takers, announce, storeAlert, log });
  const onSwept = register(options, directory, { ...check, openWaits: () => worker.open });
  const queries = createQueryWorker({
    backend,
    answerQuery: createAnswerQuery({
      ...directory,
      fence: createFence(directory),
      erase: createErase(directory),
      savedCases: createSavedCases(directory),
    }),
    waitForNewerMs: settings.QUEUE_TIMEOUT_MS / 2,
    log,
  });
  const cancels = listenForCancels(backend, interrupts.cancel);
  await atMost(CONNECT_WITHIN_MS, backend.connected);
  await check.check();
  const checks = every(CHECK_DIRECTORY_EVERY_MS, check.check, (error) =>
    log.error({ err: error }, 'checking the shared directory failed'),
  );
  const sweeps = startSweeps({ ...directory, ...execution, onSwept, log });

  return {
    state: () => ({ ...check.state() }),
    store: check.store,
    hanging: () => hangingDirectories().map((directory) => relative(options.sharedDir, directory)),
    async stop() {
      // What is just beginning still has to watch something before it can be handed over.
      const handedOver = worker.stop().finally(() => watcher.close());
      const others = [
        checks.stop().then(announce.idle),
        sweeps.stop(),
        cancels.close(),
        queries.close(),
        batches.stop(),
        lateResults.close(),
      ];
      await atMost(STOP_WITHIN_MS, Promise.allSettled([handedOver, ...others]));
    },
  };
}

type Taker = { run(): void; pause(): Promise<void> };

/** Executions and batches are taken by the same workers. */
function takingJobs(...takers: Taker[]): Taker {
  return {
    run() {
      for (const taker of takers) taker.run();
    },
    async pause() {
      await Promise.all(takers.map((taker) => taker.pause()));
    },
  };
}

/** What is known of the shared directory: its claims, its clients and their load, its rules. */
function createDirectoryParts({ settings, backend, sharedDir, metrics, log }: AllOptions) {
  const sharedDirectory = createSharedDirectory({ sharedDir, store: backend.store });
  const watcher = createResultWatcher({ pollIntervalMs: settings.POLL_INTERVAL_MS, log });
  const slots = createClientSlots({
    limit: settings.MAX_WAITS_PER_CLIENT,
    waitingLimit: Math.ceil(settings.WORKER_CONCURRENCY / 4),
    othersIn: watcher.othersIn,
  });
  const clients = createClients({ sharedDirectory, clientTimeoutMs: settings.CLIENT_TIMEOUT_MS });
  const { clock } = sharedDirectory;
  const load = createClientLoad({
    ...{ sharedDir, slots, isOwn: watcher.isOwn, fileNow: clock.now },
    resultTimeoutMs: settings.RESULT_TIMEOUT_MS,
  });
  const unwritable = createUnwritableClients({ onNoted: countPassedOver(metrics) });
  const rules = createRules({ sharedDir });
  const listClients = createListAlive({ clients, load });
  const { metadataFor, leafClassesOf } = createPublishedMetadata({ sharedDir, listClients });
  return {
    ...{ sharedDir, sharedDirectory, watcher, slots, clients, load, unwritable, rules, metadataFor },
    claims: createClaims(sharedDir, clock),
    flush: createFlush({ isOn: settings.FSYNC === '1' }),
    keptAnswers: createKeptAnswers(sharedDir, clock),
    caseFiles: createCaseFiles({ sharedDir, clock }),
    resolveTarget: createResolveTarget({ clients, load, unwritable }),
    inspections: createInspections({ sharedDir, rules, leafClassesOf, listClients, log }),
  };
}

type DirectoryParts = ReturnType<typeof createDirectoryParts>;

/** What an execution takes, from its job to its record. */
function createExecutionParts(options: AllOptions, directory: DirectoryParts) {
  const { settings, backend, metrics, tracing, atStep, log } = options;
  const interrupts = createInterrupts();
  const progress = createProgressReports();
  const privacy = createPrivacy(settings);
  const kept = backend.openHistory(historyLimitsOf(settings));
  const history = createPrivateHistory(kept, { privacy, store: backend.store });
  const memory = createMemoryBudget(LARGE_RESULTS_BYTES);
  const late = { ...directory, history, memory, maxResultBytes: settings.MAX_RESULT_BYTES, log };
  const lateResults = createLateResults({ ...late, keepsNothing: privacy.isOff });
  const cleanUp = createCleanUp({ ...directory, lateResults, atStep, log });
  const record = createRecord({ history, privacy, onEnded: metrics.ended, atStep, log });
  const shared = { ...{ interrupts, progress, memory, privacy, settings, tracing, atStep, log }, store: backend.store };
  const execute = createExecute({ ...directory, ...shared, onUnreadable: countUnreadable(metrics), cleanUp, record });
  const unknownJobs = createUnknownJobs({ ...directory, settings, log });
  return { execute, interrupts, progress, unknownJobs, lateResults, watcher: directory.watcher, history, privacy };
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
    noticing: directory.watcher.noticing,
    hanging: () => hangingDirectories().length,
  }).swept;
}

import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { processName, random } from '../../shared/ports/process.ts';
import { createPrivacy } from '../../shared/privacy/privacy.ts';
import { listenForCancels } from '../../shared/queue/cancels.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { WorkerReport } from '../../shared/queue/worker-registry.ts';
import type { Fault } from '../../shared/reasons/causes.ts';
import { atMost, STOP_WITHIN_MS } from '../../shared/runtime/async.ts';
import { historyLimitsOf, type Settings } from '../../shared/runtime/settings/settings.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { noTracing, type Tracing } from '../../shared/runtime/telemetry/tracing.ts';
import { startUpkeep, type Task } from '../../shared/runtime/upkeep.ts';
import { createBatchWorker } from '../batches/batch-worker.ts';
import { createCaseFiles } from '../cases/case-files.ts';
import type { Client } from '../clients/client.ts';
import { type Clients, createClients } from '../clients/clients.ts';
import { createPickUps } from '../clients/pick-ups.ts';
import { createPublishedMetadata } from '../clients/published-metadata.ts';
import { createExecute } from '../execution/execute.ts';
import {
  type AtStep,
  createInterrupts,
  createProgressReports,
  createWorkload,
  type Workload,
} from '../execution/execution.ts';
import { createCleanUp, createRecords, createReportEnding } from '../execution/finish.ts';
import { createLateResults } from '../execution/late-results.ts';
import { createUnknownJobs } from '../execution/unknown-jobs.ts';
import { createClaims } from '../files/claims/claims.ts';
import { createKeptAnswers } from '../files/kept-answers.ts';
import { createMailbox } from '../files/mailbox.ts';
import { createMemoryBudget } from '../files/results/result-file.ts';
import { createSharedDirectory } from '../files/shared-directory.ts';
import { createResultWatcher } from '../files/watch.ts';
import { type ClientLoad, createClientLoad } from '../placement/client-load.ts';
import { createClientSlots } from '../placement/client-slots.ts';
import { createInspections } from '../placement/inspections.ts';
import { createResolveTarget } from '../placement/resolve-target.ts';
import { createUnwritableClients } from '../placement/unwritable-clients.ts';
import { createAnswerQuery } from '../queries/answer-query.ts';
import { createErase } from '../queries/erase.ts';
import { createFence } from '../queries/fence.ts';
import { createQueryWorker } from '../queries/query-worker.ts';
import { createSavedCases } from '../queries/saved-cases.ts';
import { createKeptTrees } from '../rules/kept-trees.ts';
import { createRules } from '../rules/rules.ts';
import { sweepTasks } from '../upkeep/sweep.ts';
import { createDirectoryCheck, type StoreState, type WorkerState } from './check-directory.ts';
import { createClientCensus } from './client-census.ts';
import { createWorker } from './worker.ts';
import { countByApp, countPassedOver, countUnreadable, registerWorkerMetrics } from './worker-metrics.ts';

/** A task for the threads that wait for files: it compresses nothing, and touches no file. */
const threads = () => promisify(deflateRaw)(Buffer.alloc(0));
/** A start does not wait longer for the queue store; the checks go on until it is there. */
const CONNECT_WITHIN_MS = 1000;

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
    sweepEveryMs: 60_000, // a late answer is found within it
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
  const reports = createReports(id, backend, workload.load);
  const { announce } = reports;
  const parts = { ...directory, ...execution, worker: consumers, announce, threads, storeAlert, log };
  const check = createDirectoryCheck(parts);
  const onSwept = register(options, directory, { ...check, openWaits: () => worker.open });
  const queries = openQueries(options, directory);
  const cancels = listenForCancels(backend, interrupts.cancel);
  await atMost(CONNECT_WITHIN_MS, backend.connected);
  await check.check();
  const tasks: Task[] = [
    { name: 'checking the shared directory', everyMs: 1000, run: check.check },
    { name: 'reporting to the APIs', everyMs: 250, run: () => reports.repeat().catch(() => {}) }, // the check says that the store is away
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
      const others = [upkeep.stop(), reports.withdraw(), cancels.close(), queries.close(), batches.stop()];
      // While the queue store is away nothing can be handed over: the locks of open executions lapse then.
      await atMost(STOP_WITHIN_MS, Promise.allSettled([handedOver, ...others]));
    },
  };
}

/** What this worker tells the others of itself: whether it takes jobs, as of its last check, and how much it has to do now. */
export function createReports(
  id: string,
  { probe, workers }: Pick<QueueBackend, 'probe' | 'workers'>,
  load: Workload['load'],
) {
  let announced: Pick<WorkerReport, 'takesJobs' | 'fault'> | undefined;
  let isStopped = false;
  const repeat = async () => {
    if (!announced || isStopped) return;
    await workers.report(id, { name: processName(), ...announced, ...load() });
  };
  return {
    repeat,
    async announce(takesJobs: boolean, fault: Fault | null): Promise<void> {
      if (takesJobs) await probe();
      announced = { takesJobs, fault };
      await repeat();
    },
    withdraw(): Promise<void> {
      isStopped = true;
      return workers.withdraw(id);
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

// What a worker is made of.

/** As files; in memory each takes several times its size for a moment. */
const LARGE_RESULTS_BYTES = 32 * 1024 * 1024;

type WorkerOptions = {
  settings: Settings;
  backend: QueueBackend;
  sharedDir: string;
  log: Logger;
  /** Shared with the API when both live in one process. */
  metrics?: Metrics;
  tracing?: Tracing;
  atStep?: AtStep;
  /** How often left files and late answers are looked for. */
  sweepEveryMs?: number;
};
type AllOptions = Required<Omit<WorkerOptions, 'sweepEveryMs'>>;

/** The parts that know the shared directory: its claims, its clients and their load, its rules. */
export function createDirectoryParts({ settings, backend, sharedDir, metrics, log }: AllOptions) {
  const sharedDirectory = createSharedDirectory({
    sharedDir,
    registered: backend.directory,
    // Behind a queue store of several processes this is a first start, or a lost store and perhaps an empty mount point.
    onNewIdentity: (id) =>
      log[backend.isShared ? 'warn' : 'info'](
        { sharedDir, id },
        'SHARED_DIR had no identity and the queue store knew of none: a new one was made',
      ),
  });
  const watcher = createResultWatcher({ pollIntervalMs: settings.POLL_INTERVAL_MS, log });
  const slots = createClientSlots({
    limit: settings.MAX_WAITS_PER_CLIENT,
    waitingLimit: Math.ceil(settings.WORKER_CONCURRENCY / 4),
    othersIn: watcher.othersIn,
  });
  const { clock } = sharedDirectory;
  const pickUps = createPickUps({ sharedDir, now: clock.now, log });
  const clients = createClients({ sharedDirectory, pickUps, clientTimeoutMs: settings.CLIENT_TIMEOUT_MS });
  const load = createClientLoad({
    ...{ sharedDir, slots, isOwn: watcher.isOwn, fileNow: clock.now },
    resultTimeoutMs: settings.RESULT_TIMEOUT_MS,
  });
  const unwritable = createUnwritableClients({ onNoted: countPassedOver(metrics) });
  const rules = createRules({ sharedDir });
  const claims = createClaims(sharedDir, clock);
  const keptAnswers = createKeptAnswers(sharedDir, clock);
  const memory = createMemoryBudget(LARGE_RESULTS_BYTES);
  const listClients = createListAlive({ clients, load });
  const { metadataFor, leafClassesOf } = createPublishedMetadata({ sharedDir, listClients });
  return {
    ...{ sharedDir, sharedDirectory, watcher, slots, clients, pickUps, load, unwritable, rules, metadataFor },
    byApp: countByApp(metrics),
    ...{ claims, keptAnswers },
    mailbox: createMailbox({ sharedDirectory, claims, keptAnswers, watcher, memory, settings }),
    caseFiles: createCaseFiles({ sharedDir, clock }),
    resolveTarget: createResolveTarget({ clients, load, pickUps, unwritable }),
    inspections: createInspections({ rules, leafClassesOf, listClients, log }),
  };
}

export type DirectoryParts = ReturnType<typeof createDirectoryParts>;

/** The parts that an execution goes through, from its job to its record. */
export function createExecutionParts(options: AllOptions, directory: DirectoryParts) {
  const { settings, backend, metrics, tracing, atStep, log } = options;
  const interrupts = createInterrupts();
  const progress = createProgressReports();
  const workload = createWorkload();
  const privacy = createPrivacy(settings);
  const trees = backend.openTrees(settings.TREES_BYTES);
  const history = backend.openHistory(historyLimitsOf(settings), { privacy, trees });
  const keptTrees = createKeptTrees({ ...directory, trees, privacy, settings, log });
  const lateResults = createLateResults({ ...directory, history, keptTrees, keepsNothing: privacy.isOff, log });
  const cleanUp = createCleanUp({ ...directory, atStep, log });
  const onEnded: typeof directory.byApp.ended = (ended, reached) => {
    metrics.ended(ended);
    directory.byApp.ended(ended, reached);
  };
  const report = createReportEnding({ privacy, onEnded, log });
  const records = createRecords({ history, atStep, log });
  const { store, run: storeRun, isShared } = backend;
  const ofAll = { interrupts, progress, workload, privacy, settings, tracing, atStep, log };
  const shared = { ...ofAll, keptTrees, store, storeRun, isShared };
  const execute = createExecute({ ...directory, ...shared, onUnreadable: countUnreadable(metrics), cleanUp, report });
  const unknownJobs = createUnknownJobs({ ...directory, settings, log });
  return {
    execute,
    records,
    cleanUp,
    interrupts,
    progress,
    workload,
    unknownJobs,
    lateResults,
    watcher: directory.watcher,
    history,
    privacy,
  };
}

/**
 * The clients of an app, for questions about what they publish: one that runs a rule is online as well. Clients that cannot be
 * read publish nothing; that they cannot is said where they are asked for.
 */
function createListAlive({ clients, load }: { clients: Clients; load: ClientLoad }) {
  return async function listAlive(app: number): Promise<Client[]> {
    const all = await clients.list(app).catch(() => []);
    const running = new Set(await load.runningAmong(all.filter(({ online }) => !online)));
    return running.size === 0 ? all : all.map((client) => (running.has(client) ? { ...client, online: true } : client));
  };
}

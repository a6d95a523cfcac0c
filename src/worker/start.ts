import { atMost } from '../shared/runtime/at-most.ts';
import { createThrottledAlert, type Logger } from '../shared/runtime/logger.ts';
import { createMetrics, type Metrics } from '../shared/runtime/metrics.ts';
import { every } from '../shared/runtime/periodic.ts';
import { historyLimitsOf, type Settings } from '../shared/runtime/settings.ts';
import { noTracing, type Tracing } from '../shared/runtime/tracing.ts';
import { listenForCancels } from '../shared/store/control.ts';
import type { QueueBackend } from '../shared/store/queue-backend.ts';
import { createClients } from './clients/clients.ts';
import { createPublishedMetadata } from './clients/published-metadata.ts';
import { createAfterEnding } from './execution/clean-up.ts';
import { createProcessExecution, type Dependencies, type Step } from './execution/execute.ts';
import { createInterrupts } from './execution/interrupts.ts';
import { createLateResults } from './execution/late-answers.ts';
import { createProgressReports } from './execution/progress.ts';
import { createUnknownJobs } from './execution/unknown-jobs.ts';
import { createClaims } from './files/claim.ts';
import { createKeptAnswers } from './files/kept-answers.ts';
import { createRoom } from './files/memory-budget.ts';
import { createSharedDirectory, UnusableSharedDirectory } from './files/shared-directory.ts';
import { createResultWatcher } from './files/watcher.ts';
import { createClientCensus } from './placement/client-census.ts';
import { createClientLoad } from './placement/client-load.ts';
import { createClientSlots } from './placement/client-slots.ts';
import { createInspections } from './placement/inspections.ts';
import { createListAlive } from './placement/list-alive.ts';
import { createResolveTarget } from './placement/resolve-target.ts';
import { createAnswerQuery } from './queries/answer-query.ts';
import { createQueryWorker } from './queries/query-worker.ts';
import { createRules } from './rules/rules.ts';
import { createSweep } from './upkeep/sweep.ts';
import { createSweepGoneClients } from './upkeep/sweep-gone-clients.ts';
import { createWorker, STORE_ADVICE } from './worker.ts';
import { registerWorkerMetrics } from './worker-metrics.ts';

const CHECK_DIRECTORY_EVERY_MS = 1000;
const SWEEP_EVERY_MS = 60_000;
/** Who starts may follow one that died and left something. */
const FIRST_SWEEP_AFTER_MS = 2000;
const SWEEP_ANSWERS_EVERY_MS = 10_000;
const SWEEP_GONE_CLIENTS_EVERY_MS = 60 * 60_000;
/** As files; in memory each takes several times its size for a moment. */
const LARGE_RESULTS_BYTES = 32 * 1024 * 1024;
/** A start does not wait longer for the queue store; the checks go on until it is there. */
const CONNECT_WITHIN_MS = 1000;
/** While the queue store is away nothing can be handed over or closed: the locks of open executions lapse then. */
const STOP_WITHIN_MS = 3000;

export type RunningWorker = {
  /** Whether it takes jobs, and if not, why. */
  state(): { takesJobs: boolean; reason: string | null };
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
  atStep?: (step: Step, mockId: string) => Promise<void> | void;
};

/** Starts the side that touches the shared directory. It takes jobs as long as that directory is the right one. */
export async function startWorker({
  settings,
  backend,
  sharedDir,
  log,
  metrics = createMetrics(),
  tracing = noTracing,
  atStep = () => {},
}: Options): Promise<RunningWorker> {
  const sharedDirectory = createSharedDirectory({ sharedDir, store: backend.store });
  const interrupts = createInterrupts();
  const progress = createProgressReports();
  const history = backend.openHistory(historyLimitsOf(settings));
  const room = createRoom(LARGE_RESULTS_BYTES);
  const { clock } = sharedDirectory;
  const claims = createClaims(sharedDir, clock);
  const lateResults = createLateResults({
    claims,
    history,
    sharedDir,
    room,
    maxResultBytes: settings.MAX_RESULT_BYTES,
    log,
  });
  const keptAnswers = createKeptAnswers(sharedDir, clock);
  const watcher = createResultWatcher({ pollIntervalMs: settings.POLL_INTERVAL_MS, log });
  const slots = createClientSlots({
    limit: settings.MAX_WAITS_PER_CLIENT,
    waitingLimit: Math.ceil(settings.WORKER_CONCURRENCY / 4),
    openIn: watcher.openIn,
  });
  const clients = createClients({ sharedDirectory, clientTimeoutMs: settings.CLIENT_TIMEOUT_MS });
  const load = createClientLoad({
    sharedDir,
    slots,
    resultTimeoutMs: settings.RESULT_TIMEOUT_MS,
    fileNow: clock.now,
  });
  const resolveTarget = createResolveTarget({ clients, load });
  const rules = createRules({ sharedDir });
  const listClients = createListAlive({ clients, load });
  const { metadataFor, leafClassesOf } = createPublishedMetadata({ sharedDir, listClients });
  const parts: Dependencies = {
    claims,
    sharedDirectory,
    resolveTarget,
    inspections: createInspections({ sharedDir, rules, leafClassesOf, listClients, log }),
    slots,
    store: backend.store,
    interrupts,
    progress,
    watcher,
    keptAnswers,
    room,
    settings,
    atStep,
    log,
  };
  const processExecution = createProcessExecution(parts);
  const storeAlert = createThrottledAlert(log, 'The queue store cannot be used');
  const unknownJobs = createUnknownJobs({ claims, sharedDirectory, settings, log });
  const afterEnding = createAfterEnding({
    history,
    lateResults,
    keptAnswers,
    onEnded: metrics.ended,
    sharedDir,
    atStep,
    log,
  });
  const worker = createWorker({
    backend,
    processExecution,
    interrupts,
    progress,
    afterEnding,
    unknownJobs,
    storeAlert,
    tracing,
    concurrency: settings.WORKER_CONCURRENCY,
    log,
  });
  const queries = createQueryWorker({
    backend,
    answerQuery: createAnswerQuery({ sharedDir, clients, load, rules, metadataFor }),
    waitForNewerMs: settings.QUEUE_TIMEOUT_MS / 2,
    log,
  });
  const cancels = listenForCancels(backend, interrupts.cancel);

  const state: { takesJobs: boolean; reason: string | null } = { takesJobs: false, reason: 'starting' };
  let storeUp = false;
  const { swept } = registerWorkerMetrics(metrics, {
    capacity: settings.WORKER_CONCURRENCY,
    openWaits: () => worker.open,
    takesJobs: () => state.takesJobs,
    storeUp: () => storeUp,
    fileClockAheadMs: clock.aheadMs,
    census: createClientCensus({ sharedDir, clients, load }),
  });
  const incident = createThrottledAlert(log.child({ sharedDir }), 'This worker takes no jobs');
  const checkDirectory = async () => {
    try {
      await sharedDirectory.check();
      if (!state.takesJobs) {
        worker.run();
        log.info({ sharedDir }, 'this worker takes jobs');
      }
      Object.assign(state, { takesJobs: true, reason: null });
      storeUp = true;
      incident.ends();
      storeAlert.ends();
    } catch (error) {
      storeUp = error instanceof UnusableSharedDirectory;
      // While the queue store is away there are no jobs to take; that is no reason to doubt the directory.
      if (!(error instanceof UnusableSharedDirectory)) return storeAlert.begins(error, STORE_ADVICE);
      if (state.takesJobs) await worker.pause();
      Object.assign(state, { takesJobs: false, reason: error.message });
      incident.begins(error, error.message);
    }
  };
  await atMost(CONNECT_WITHIN_MS, backend.connected);
  await checkDirectory();
  const checks = every(CHECK_DIRECTORY_EVERY_MS, checkDirectory, (error) =>
    log.error({ err: error }, 'checking the shared directory failed'),
  );
  /** Nothing is removed from a directory that is not the right one, or through a link. */
  const whileThere = (sweep: () => Promise<unknown>) => async () => {
    if (await sharedDirectory.isThere()) await sweep();
  };
  const sweeps = every(
    SWEEP_EVERY_MS,
    whileThere(createSweep({ sharedDirectory, claims, onResult: lateResults.found, onSwept: swept, log })),
    (error) => log.warn({ err: error }, 'the sweep failed'),
    FIRST_SWEEP_AFTER_MS,
  );
  const answerSweeps = every(
    SWEEP_ANSWERS_EVERY_MS,
    whileThere(async () => keptAnswers.sweep(await clock.touch())),
    (error) => log.warn({ err: error }, 'the sweep of kept answers failed'),
  );
  const goneClients = every(
    SWEEP_GONE_CLIENTS_EVERY_MS,
    whileThere(createSweepGoneClients({ sharedDir, clients })),
    (error) => log.warn({ err: error }, 'the sweep of directories whose clients are gone failed'),
  );

  return {
    state: () => ({ ...state }),
    async stop() {
      // What is just beginning still has to watch something before it can be handed over.
      const handedOver = worker.stop().finally(() => watcher.close());
      const parts = [
        checks.stop(),
        sweeps.stop(),
        goneClients.stop(),
        answerSweeps.stop(),
        cancels.close(),
        queries.close(),
        lateResults.close(),
      ];
      await atMost(STOP_WITHIN_MS, Promise.allSettled([handedOver, ...parts]));
    },
  };
}

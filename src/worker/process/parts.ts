import { createPrivacy } from '../../shared/privacy/privacy.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { historyLimitsOf, type Settings } from '../../shared/runtime/settings/settings.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import type { Tracing } from '../../shared/runtime/telemetry/tracing.ts';
import { createCaseFiles } from '../cases/case-files.ts';
import type { Client } from '../clients/client.ts';
import { type Clients, createClients } from '../clients/clients.ts';
import { createPickUps } from '../clients/pick-ups.ts';
import { createPublishedMetadata } from '../clients/published-metadata.ts';
import { createExecute } from '../execution/execute.ts';
import { createInterrupts, createProgressReports, createWorkload } from '../execution/execution.ts';
import { createCleanUp, createRecords, createReportEnding } from '../execution/finish.ts';
import { createLateResults } from '../execution/late-results.ts';
import type { AtStep } from '../execution/steps.ts';
import { createUnknownJobs } from '../execution/unknown-jobs.ts';
import { createClaims } from '../files/claims/claims.ts';
import { createFlush } from '../files/flush.ts';
import { createMailbox } from '../files/mailbox.ts';
import { createMemoryBudget } from '../files/memory-budget.ts';
import { createKeptAnswers } from '../files/results/kept-answers.ts';
import { createSharedDirectory } from '../files/shared-directory.ts';
import { createResultWatcher } from '../files/watch.ts';
import { type ClientLoad, createClientLoad } from '../placement/client-load.ts';
import { createClientSlots } from '../placement/client-slots.ts';
import { createInspections } from '../placement/inspections.ts';
import { createResolveTarget } from '../placement/resolve-target.ts';
import { createUnwritableClients } from '../placement/unwritable-clients.ts';
import { createKeptTrees } from '../rules/kept-trees.ts';
import { createRules } from '../rules/rules.ts';
import { countByApp, countPassedOver, countUnreadable } from './worker-metrics.ts';

/** As files; in memory each takes several times its size for a moment. */
const LARGE_RESULTS_BYTES = 32 * 1024 * 1024;

export type WorkerOptions = {
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
export type AllOptions = Required<Omit<WorkerOptions, 'sweepEveryMs'>>;

/** The parts that know the shared directory: its claims, its clients and their load, its rules. */
export function createDirectoryParts({ settings, backend, sharedDir, metrics, log }: AllOptions) {
  const sharedDirectory = createSharedDirectory({
    sharedDir,
    registered: backend.directory,
    // Behind a queue store of several processes this is a first start, or a lost store and perhaps an empty mount point.
    onNewIdentity: (id) =>
      log[backend.seesWorkers ? 'warn' : 'info'](
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
  const listClients = createListAlive({ clients, load });
  const { metadataFor, leafClassesOf } = createPublishedMetadata({ sharedDir, listClients });
  return {
    ...{ sharedDir, sharedDirectory, watcher, slots, clients, pickUps, load, unwritable, rules, metadataFor },
    byApp: countByApp(metrics),
    claims: createClaims(sharedDir, clock),
    flush: createFlush({ isOn: settings.FSYNC === '1' }),
    keptAnswers: createKeptAnswers(sharedDir, clock),
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
  const memory = createMemoryBudget(LARGE_RESULTS_BYTES);
  const mailbox = createMailbox({ ...directory, memory, settings });
  const keptTrees = createKeptTrees({ ...directory, trees, privacy, settings, log });
  const late = { ...directory, history, keptTrees, memory, maxResultBytes: settings.MAX_RESULT_BYTES, log };
  const lateResults = createLateResults({ ...late, keepsNothing: privacy.isOff });
  const cleanUp = createCleanUp({ mailbox, atStep, log });
  const onEnded: typeof directory.byApp.ended = (ended, reached) => {
    metrics.ended(ended);
    directory.byApp.ended(ended, reached);
  };
  const report = createReportEnding({ privacy, onEnded, log });
  const records = createRecords({ history, atStep, log });
  const { store, run: storeRun } = backend;
  const ofAll = { mailbox, interrupts, progress, workload, memory, privacy, settings, tracing, atStep, log };
  const shared = { ...ofAll, keptTrees, store, storeRun };
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

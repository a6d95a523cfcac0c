import { Counter } from 'prom-client';
import type { Batch } from '../../shared/cases/batch.ts';
import { queueNames } from '../../shared/contract/queue-names.ts';
import { type Verdict, verdicts } from '../../shared/contract/verdict.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { createCancelSender } from '../../shared/queue/cancels.ts';
import type { ExecutionQueue, Queue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { persist, persistOrThrow, STORE_BACK_WITHIN_MS } from '../../shared/runtime/async.ts';
import { batchLimitsOf, type Settings } from '../../shared/runtime/settings/settings.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { startUpkeep, type Task } from '../../shared/runtime/upkeep.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { Clients } from '../clients/clients.ts';
import type { Claims } from '../files/claims/claims.ts';
import type { ResolveTarget } from '../placement/resolve-target.ts';
import type { MetadataFor } from '../rules/leaves/leaf-metadata.ts';
import type { Rules } from '../rules/rules.ts';
import { type BatchJob, createBatchJobs } from './batch-jobs.ts';
import { createClientPace } from './client-pace.ts';
import { createEarlierRuns } from './earlier-runs.ts';
import { createFollowItems } from './follow-items.ts';
import { createGiveWay } from './give-way.ts';
import { createHighWaterMarks } from './high-water-marks.ts';

/** A batch has no claim of its own, so another worker may take it over while this one is only suspended. */
const TAKE_OVER_MS = 2500;
const SWEEP = 'the sweep of batch marks';

type BatchWorkerDependencies = {
  backend: QueueBackend;
  history: History;
  claims: Claims;
  clients: Clients;
  rules: Rules;
  metadataFor: MetadataFor;
  resolveTarget: ResolveTarget;
  privacy: Privacy;
  sharedDir: string;
  settings: Settings;
  metrics: Metrics;
  log: Logger;
};

/** Retries while the queue store is away for a moment; one that stays away ends the batch's run in this worker. */
function untilBack(store: BatchStore): BatchStore {
  const again = <T>(task: () => Promise<T>) => persistOrThrow(time.now() + STORE_BACK_WITHIN_MS, task);
  return {
    ...store,
    cases: (batchId, chunk) => again(() => store.cases(batchId, chunk)),
    heads: (batchId, first, last) => again(() => store.heads(batchId, first, last)),
    begin: (batchId, n, claimBy) => again(() => store.begin(batchId, n, claimBy)),
    settle: (batchId, item) => again(() => store.settle(batchId, item)),
    acquire: (request) => again(() => store.acquire(request)),
    release: async (held) => void (await persist(time.now() + STORE_BACK_WITHIN_MS, () => store.release(held))),
  };
}

/**
 * Runs batches: takes their jobs, feeds the queue of executions, and records the endings of the items. When the worker of a batch dies:
 * - Its lock on the job lapses (`TAKE_OVER_MS`), and another worker takes the job.
 * - That one goes through all items once more. Those with a verdict are done, and those that were sent are waited for (`carryOn` in
 *   `run-target.ts`).
 * - A high-water mark is written before items are sent (`high-water-marks.ts`). An item below a mark that the queue store does not know gets a
 *   refusal in the place of its claim, and is sent only if it can never have begun. Where that is no longer known, it ends as
 *   `outcome-unknown` (`resolve-doubt.ts`).
 * - Where its job is missing, any worker adds it again within 2 s (`addMissing`).
 * - The slots that the dead worker held at clients expire, because nobody renews them (`batch-slots.ts`).
 */
export function createBatchWorker(dependencies: BatchWorkerDependencies) {
  const { backend, history, sharedDir, settings, metrics, log, rules, metadataFor, ...others } = dependencies;
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  const batches: Queue<BatchJob> = backend.openQueue(queueNames.batches);
  const store = untilBack(backend.openBatches(batchLimitsOf(settings)));
  const followItems = createFollowItems({ backend, queue, history, store: backend.store, settings });
  const cancels = createCancelSender(backend);
  const marks = createHighWaterMarks(sharedDir);
  const counts = registerBatchMetrics(metrics, () => jobs.running);
  const giveWay = createGiveWay(backend, { queue, isRunning: () => jobs.running > 0 });
  const earlierRuns = (batch: Batch) => createEarlierRuns(batch, { history, rules, metadataFor });
  const own = { earlierRuns, store, queue, followItems, marks, cancels, giveWay, settings };
  const parts = { ...others, ...own, pace: createClientPace(), storeRun: backend.run, onSettled: counts.settled };
  const jobs = createBatchJobs(parts, { log, onFault: counts.failed });
  // The executions' worker reports the faults of the store.
  const worker = backend.openWorker(queueNames.batches, jobs.process, {
    concurrency: settings.MAX_BATCHES,
    lockMs: TAKE_OVER_MS,
    onLost: jobs.abort,
    onDefect: (batchId, error) => log.error({ err: error, batchId }, 'a batch failed by a defect'),
  });
  const tasks: Task[] = [
    // The record of a batch says that it is not over, whatever the queue store lost.
    { name: 'adding lost batches', everyMs: 2000, run: addMissing },
    { name: SWEEP, everyMs: 10 * 60_000, run: () => marks.sweep(settings.BATCH_SECONDS * 1000) },
    giveWay.task,
  ];
  async function addMissing(): Promise<void> {
    for (const batchId of await store.running()) await batches.add(batchId, { batchId });
  }
  const upkeep = startUpkeep(tasks, (error, name) => {
    if (name === SWEEP) log.warn({ err: error }, `${name} failed`);
  });

  return {
    /** Takes batches from now on. */
    run: worker.run,
    /** Takes no more batches; those it has go on. */
    pause: worker.pause,
    /** Batches this worker runs. */
    get running() {
      return jobs.running;
    },
    /** Hands its batches over to other workers, and releases everything. */
    async stop(): Promise<void> {
      const closed = worker.close();
      jobs.abortAll();
      await closed;
      await upkeep.stop();
      await Promise.all([followItems, cancels, queue, batches].map((each) => each.close()));
    },
  };
}

/** Counts the verdicts of items, and how often a batch could not go on. */
function registerBatchMetrics(metrics: Metrics, running: () => number) {
  const registers = [metrics.registry];
  metrics.gauge('batches_running', 'Batches this worker runs.', running);
  const items = new Counter({
    name: 'rule_server_batch_items_total',
    help: 'Items of batches that got their verdict. Each is counted by one worker.',
    labelNames: ['verdict'],
    registers,
  });
  for (const verdict of verdicts) if (verdict !== 'pending') items.inc({ verdict }, 0);
  const faults = new Counter({
    name: 'rule_server_batch_faults_total',
    help: 'How often a batch could not go on and was given back to be tried again.',
    registers,
  });
  return { settled: (verdict: Verdict) => items.inc({ verdict }), failed: () => faults.inc() };
}

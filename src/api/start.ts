import { atMost } from '../shared/runtime/at-most.ts';
import { openAudit } from '../shared/runtime/audit.ts';
import { openKeyring } from '../shared/runtime/keyring.ts';
import { createThrottledAlert, type Logger } from '../shared/runtime/logger.ts';
import { createMetrics, type Metrics } from '../shared/runtime/metrics.ts';
import { every } from '../shared/runtime/periodic.ts';
import { apiWaitMs, historyLimitsOf, type Settings } from '../shared/runtime/settings.ts';
import { noTracing, type Tracing } from '../shared/runtime/tracing.ts';
import { createCancelSender } from '../shared/store/control.ts';
import {
  type ExecutionQueue,
  KEEP_FINISHED_SECONDS,
  type QueueBackend,
  queueNames,
} from '../shared/store/queue-backend.ts';
import { registerApiMetrics } from './api-metrics.ts';
import { createApp } from './app.ts';
import { openAskWorker } from './ask-worker.ts';
import { openBatches } from './batches/batches.ts';
import { openPendingExecutions } from './calls/await-ending.ts';
import { closeNotes } from './calls/close-notes.ts';
import { createFence } from './calls/fence.ts';
import { createIdempotency } from './calls/idempotency.ts';
import { createReadAnswer } from './calls/read-answer.ts';
import { createRunOnce } from './calls/run-once.ts';
import { createSubmitExecution } from './calls/submit-execution.ts';
import { CONSOLE_DIRECTORY, readConsoleFiles } from './console-files.ts';
import { createExecutions } from './executions/executions.ts';
import { serveHttp } from './http/http-server.ts';
import type { Phase } from './http/refuse-calls.ts';
import { loadRequestTracing } from './http/trace-requests.ts';
import { STORE_ADVICE, watchQueueHealth } from './queue-health.ts';

/** The queue itself removes finished jobs only when others finish. */
const REMOVE_OLD_EVERY_MS = 10_000;

export type RunningApi = {
  url: string;
  /** Resolves once calls are answered: the queue store is reachable and its events arrive. */
  ready: Promise<void>;
  /** Refuses new calls, lets open ones finish within the grace time, then lets go of everything. */
  stop(): Promise<void>;
};

type Dependencies = {
  settings: Settings;
  backend: QueueBackend;
  log: Logger;
  metrics?: Metrics;
  tracing?: Tracing;
};

/** Starts the HTTP side. It listens at once and answers 503 until the queue store is reachable. */
export async function startApi({
  settings,
  backend,
  log,
  metrics = createMetrics(),
  tracing = noTracing,
}: Dependencies): Promise<RunningApi> {
  let phase: Phase = 'starting';
  const audit = openAudit(settings.AUDIT_LOG, (error) => log.error({ err: error }, 'the audit log cannot be written'));
  const keys = await openKeyring({
    settings,
    log,
    onChange: (changes) => audit.tell({ what: 'keys changed', who: null, from: null, outcome: 'read', keys: changes }),
  });
  const stopping = new AbortController();
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  const storeAlert = createThrottledAlert(log, 'The queue store cannot be used');
  queue.on('error', (error) => storeAlert.begins(error, STORE_ADVICE));
  const health = watchQueueHealth({ backend, queue, storeAlert });
  const history = backend.openHistory(historyLimitsOf(settings));
  const pending = openPendingExecutions({
    backend,
    queue,
    history,
    workers: () => health.workers,
    storeAlert,
    onEnded: metrics.ended,
    log,
  });
  const removal = every(
    REMOVE_OLD_EVERY_MS,
    () => backend.removeOld(queue, KEEP_FINISHED_SECONDS * 1000),
    () => {},
  );
  const cancels = createCancelSender(backend);
  const readAnswer = createReadAnswer({ store: backend.store, history });
  const askWorker = openAskWorker({ backend, settings, storeAlert, log });
  const submitExecution = createSubmitExecution({
    backend,
    queue,
    pending,
    health,
    cancels,
    history,
    readAnswer,
    settings,
    storeAlert,
    onRefused: metrics.refused,
  });
  registerApiMetrics(metrics, health, () => pending.waiting);
  const executions = createExecutions({ queue, history, pending, cancels, readAnswer });
  const notes = backend.openNotes(settings.IDEMPOTENCY_BYTES);
  const idempotency = createIdempotency({ notes, find: executions.find });
  const fence = createFence({ ask: askWorker.ask, onFenced: metrics.fenced });
  const noteCloser = closeNotes({ notes, idempotency, executions, fence });
  const runOnce = createRunOnce({
    idempotency,
    fence,
    submitExecution,
    executions,
    queueTimeoutMs: settings.QUEUE_TIMEOUT_MS,
    waitMs: apiWaitMs(settings),
  });
  const batches = openBatches({ backend, ask: askWorker.ask, settings });
  const app = createApp({
    batches,
    submitExecution,
    runOnce,
    executions,
    ask: askWorker.ask,
    health,
    metrics,
    traceRequests: tracing.telemetry && (await loadRequestTracing()),
    settings,
    keyring: keys.keyring,
    audit,
    store: backend.store,
    log,
    phase: () => phase,
    stopping: stopping.signal,
    board: { queues: [queue, askWorker.queue], seesWorkers: backend.seesWorkers },
    consoleFiles: readConsoleFiles(CONSOLE_DIRECTORY),
  });
  const server = await serveHttp(app, settings);

  const ready = Promise.all([health.ready, pending.ready(), askWorker.ready()]).then(() => {
    if (phase === 'starting') phase = 'running';
  });

  return {
    url: server.url,
    ready,
    async stop() {
      phase = 'stopping';
      stopping.abort();
      await server.drain(settings.SHUTDOWN_GRACE_MS, () => {
        phase = 'closing';
        log.warn('some calls did not end within SHUTDOWN_GRACE_MS: they are cut off, and their executions go on');
      });
      const parts = [
        removal.stop(),
        noteCloser.stop(),
        health.close(),
        pending.close(),
        cancels.close(),
        askWorker.close(),
        batches.close(),
        queue.close(),
        keys.close(),
      ];
      await atMost(3000, Promise.allSettled(parts)); // closing can hang while the store is away
      audit.close();
    },
  };
}

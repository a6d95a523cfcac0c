import { queueNames } from '../shared/contract/queue-names.ts';
import { createPrivacy, type Privacy } from '../shared/privacy/privacy.ts';
import { createBacklog } from '../shared/queue/backlog.ts';
import { createCancelSender } from '../shared/queue/cancels.ts';
import { type ExecutionQueue, KEEP_ENDED_MS } from '../shared/queue/queue.ts';
import type { QueueBackend } from '../shared/queue/queue-backend.ts';
import { apiWaitMs, historyLimitsOf, type Settings } from '../shared/runtime/settings/settings.ts';
import { createThrottledAlert, type Logger } from '../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../shared/runtime/telemetry/metrics.ts';
import { startUpkeep } from '../shared/runtime/upkeep.ts';
import { registerApiMetrics } from './api-metrics.ts';
import { openAskWorker } from './ask-worker.ts';
import { openBatches } from './batches/batches.ts';
import { createAdmission } from './calls/admission.ts';
import { createFenceRequest, type Fence, openPendingExecutions, watchConnection } from './calls/pending-executions.ts';
import { createReadAnswer, createSubmitExecution } from './calls/submit-execution.ts';
import { createDocuments } from './cases/documents.ts';
import { createSavedCases } from './cases/saved-cases.ts';
import { createEraseExecution } from './executions/erase-execution.ts';
import { createExecutions } from './executions/executions.ts';
import { createHistoryRepair } from './executions/repair-history.ts';
import { createRecordCloser } from './idempotency/close-records.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { createRunOnce } from './idempotency/run-once.ts';
import { STORE_ADVICE, watchQueueHealth } from './queue-health.ts';

type CallsDependencies = { settings: Settings; backend: QueueBackend; log: Logger; metrics: Metrics };

/**
 * Puts together what an API does with calls, without HTTP. The routes are made of `parts`; `ready` resolves once calls can be
 * answered.
 */
export function openCalls({ settings, backend, log, metrics }: CallsDependencies) {
  const privacy = createPrivacy(settings);
  const askWorker = openAskWorker({ backend, settings });
  const { ask } = askWorker;
  const fence = createFenceRequest({ ask, onFenced: metrics.fenced });
  const opened = openQueue({ settings, backend, privacy, fence, log, metrics });
  const { queue, health, history, trees, pending } = opened;
  const admission = createAdmission({ ...opened, settings });
  const readAnswer = createReadAnswer({ store: backend.store, history });
  const onRefused = metrics.refused;
  const submitExecution = createSubmitExecution({
    ...opened,
    admission,
    backend,
    privacy,
    readAnswer,
    settings,
    onRefused,
  });
  const executions = createExecutions({ ...opened, privacy, readAnswer, settings });
  const records = backend.openIdempotencyRecords(settings.IDEMPOTENCY_BYTES);
  const idempotency = createIdempotency({ records, find: executions.find, keepsNothing: privacy.isOff });
  const runOnce = createRunOnce({
    ...{ admission, idempotency, fence, submitExecution, executions },
    queueTimeoutMs: settings.QUEUE_TIMEOUT_MS,
    waitMs: apiWaitMs(settings),
  });
  const savedCases = createSavedCases({ ask, documents: createDocuments() });
  const batches = openBatches({ backend, trees, ask, executions, savedCases, privacy, settings });
  const limits = historyLimitsOf(settings);
  const upkeep = startUpkeep(
    [
      // The queue itself removes finished jobs only when others finish.
      { name: 'removing old jobs', everyMs: 10_000, run: () => queue.removeOld(KEEP_ENDED_MS) },
      {
        name: 'repair',
        everyMs: 30_000,
        run: createHistoryRepair({ queue, limits, history, onEnded: metrics.ended, log }),
      },
      {
        name: 'closing idempotency records',
        everyMs: 5000,
        run: createRecordCloser({ records, idempotency, executions, fence, keepsNothing: privacy.isOff }),
      },
    ],
    () => {}, // the queue's health says so once, and the next turn tries again
  );
  const { find } = executions;
  const { eraseItem } = batches;
  const eraseExecution = createEraseExecution({ backend, queue, history, records, ask, find, eraseItem });

  return {
    parts: { submitExecution, runOnce, executions, eraseExecution, batches, savedCases, ask, health, admission },
    ready: health.ready.then(() => Promise.all([pending.ready, askWorker.ready])),
    close: () => Promise.allSettled([upkeep.stop(), askWorker.close(), batches.close(), opened.close()]),
  };
}

type QueueDependencies = CallsDependencies & { privacy: Privacy; fence: Fence };

function openQueue({ settings, backend, privacy, fence, log, metrics }: QueueDependencies) {
  const storeAlert = createThrottledAlert(log, 'The queue store cannot be used');
  const connection = watchConnection();
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions, {
    onError: (error) => storeAlert.begins(error, STORE_ADVICE),
    onDisconnect: connection.lost,
  });
  const backlog = createBacklog();
  const health = watchQueueHealth({ backend, backlog, storeAlert });
  const trees = backend.openTrees(settings.TREES_BYTES);
  const history = backend.openHistory(historyLimitsOf(settings), { privacy, trees });
  const pending = openPendingExecutions({
    ...{ backend, queue, connection, history, health, fence, log },
    onEnded: metrics.ended,
  });
  registerApiMetrics(metrics, health, () => pending.waiting);
  const cancels = createCancelSender(backend);
  const close = () => Promise.allSettled([health.close(), pending.close(), cancels.close(), queue.close()]);
  return { queue, storeAlert, health, backlog, history, trees, pending, cancels, close };
}

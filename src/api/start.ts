import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { atMost } from '../shared/at-most.ts';
import { createCancelSender } from '../shared/control.ts';
import { createIncident, type Logger } from '../shared/logger.ts';
import { type ExecutionQueue, type QueueBackend, queueNames } from '../shared/queue.ts';
import { historyLimitsOf, type Settings } from '../shared/settings.ts';
import { createApp } from './app.ts';
import { openAskWorker } from './ask-worker.ts';
import { createExecutions } from './executions.ts';
import { openFinishedExecutions } from './finished-executions.ts';
import { createIdempotency } from './idempotency.ts';
import { STORE_ADVICE, watchQueueHealth } from './queue-health.ts';
import { createSubmitExecution } from './submit-execution.ts';

export type RunningApi = {
  url: string;
  /** Resolves once calls are answered: the queue store is reachable and its events arrive. */
  ready: Promise<void>;
  /** Refuses new calls, lets open ones finish within the grace time, then lets go of everything. */
  stop(): Promise<void>;
};

type Dependencies = { settings: Settings; backend: QueueBackend; log: Logger };

/** Starts the HTTP side. It listens at once and answers 503 until the queue store is reachable. */
export async function startApi({ settings, backend, log }: Dependencies): Promise<RunningApi> {
  let phase: 'starting' | 'running' | 'stopping' = 'starting';
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  const storeIncident = createIncident(log, 'The queue store cannot be used');
  queue.on('error', (error) => storeIncident.begins(error, STORE_ADVICE));
  const health = watchQueueHealth({ backend, queue, storeIncident });
  const history = backend.openHistory(historyLimitsOf(settings));
  const finished = openFinishedExecutions({
    backend,
    queue,
    history,
    workers: () => health.workers,
    storeIncident,
    log,
  });
  const cancels = createCancelSender(backend);
  const askWorker = openAskWorker({ backend, settings, storeIncident, log });
  const submitExecution = createSubmitExecution({
    queue,
    finished,
    health,
    cancels,
    store: backend.store,
    history,
    settings,
    storeIncident,
  });
  const executions = createExecutions({ queue, history, finished, cancels, store: backend.store });
  const app = createApp({
    submitExecution,
    executions,
    idempotency: createIdempotency(backend.store),
    ask: askWorker.ask,
    health,
    settings,
    log,
    phase: () => phase,
  });
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      // Whole requests must arrive in time; answers may take as long as they take.
      requestTimeout: 30_000,
      headersTimeout: 10_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16 * 1024,
    },
  }) as Server;
  await listen(server, settings);

  const ready = Promise.all([health.ready, finished.ready(), askWorker.ready()]).then(() => {
    if (phase === 'starting') phase = 'running';
  });

  return {
    url: urlOf(server, settings.HOST),
    ready,
    async stop() {
      phase = 'stopping';
      await drain(server, settings.SHUTDOWN_GRACE_MS, log);
      const parts = [health.close(), finished.close(), cancels.close(), askWorker.close(), queue.close()];
      await atMost(3000, Promise.allSettled(parts)); // closing can hang while the store is away
    },
  };
}

function listen(server: Server, { HOST, PORT }: Settings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(PORT, HOST, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function drain(server: Server, graceMs: number, log: Logger): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // close() ends idle connections once; those that fall idle later are asked again.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const late = setTimeout(() => {
    log.warn(
      { graceMs },
      'some calls did not end within the grace time; their connections are cut, their executions go on',
    );
    server.closeAllConnections();
  }, graceMs);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

import { setTimeout as delay } from 'node:timers/promises';
import type { QueueBackend } from '../shared/queue/queue-backend.ts';
import { openAudit } from '../shared/runtime/access/audit.ts';
import { openKeyring } from '../shared/runtime/access/keyring.ts';
import { atMost, STOP_WITHIN_MS } from '../shared/runtime/async.ts';
import type { Settings } from '../shared/runtime/settings/settings.ts';
import type { Logger } from '../shared/runtime/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../shared/runtime/telemetry/metrics.ts';
import { noTracing, type Tracing } from '../shared/runtime/telemetry/tracing.ts';
import { createRequestMetrics } from './api-metrics.ts';
import { createApp } from './app.ts';
import { stopRevoked } from './batches/stop-revoked.ts';
import { CONSOLE_DIRECTORY, readConsoleFiles } from './console-files.ts';
import type { Phase } from './http/middleware.ts';
import { refuseEarly, serveHttp } from './http/server/http-server.ts';
import { loadRequestTracing } from './http/server/trace-requests.ts';
import { openCalls } from './open-calls.ts';

/** A start does not wait longer for the queue store. */
const LISTEN_WITHIN_MS = 5000;

export type RunningApi = {
  url: string;
  /** Resolves once calls are answered: the queue store is reachable and its events arrive. */
  ready: Promise<void>;
  /** Refuses new calls, lets open ones finish within the grace time, then lets go of everything. */
  stop(): Promise<void>;
};

type StartDependencies = {
  settings: Settings;
  backend: QueueBackend;
  log: Logger;
  metrics?: Metrics;
  tracing?: Tracing;
};

/**
 * Starts the HTTP side. It listens once calls can be answered, so that an API that restarts refuses none of its first ones;
 * without the queue store it listens after 5 s all the same and says 503 until it is there.
 */
export async function startApi({
  settings,
  backend,
  log,
  metrics = createMetrics(),
  tracing = noTracing,
}: StartDependencies): Promise<RunningApi> {
  let phase: Phase = 'starting';
  const stopping = new AbortController();
  const audit = openAudit(settings.AUDIT_LOG, (error) => log.error({ err: error }, 'the audit log cannot be written'));
  const keys = await openKeyring({
    settings,
    log,
    onChange: (changes) => audit.tell({ what: 'keys changed', who: null, from: null, outcome: 'read', keys: changes }),
  });
  const calls = openCalls({ settings, backend, log, metrics });
  const requestMetrics = createRequestMetrics(metrics);
  const { admission } = calls.parts;
  const refuses = refuseEarly({
    ...{ keyring: keys.keyring, metrics, count: requestMetrics.count, log, audit },
    whyNot: () => (phase === 'running' ? admission.waitsTooLong() : undefined),
  });
  const app = createApp({
    ...calls.parts,
    metrics,
    requestMetrics,
    traceRequests: tracing.telemetry && (await loadRequestTracing()),
    settings,
    keyring: keys.keyring,
    audit,
    store: backend.store,
    log,
    phase: () => phase,
    stopping: stopping.signal,
    consoleFiles: readConsoleFiles(CONSOLE_DIRECTORY),
  });
  const revoked = stopRevoked({ store: calls.parts.batches.store, keyring: keys.keyring, settings, log });
  const ready = calls.ready.then(() => {
    if (phase === 'starting') phase = 'running';
  });
  await atMost(LISTEN_WITHIN_MS, ready);
  const server = await serveHttp(app, settings, { refuses });

  return {
    url: server.url,
    ready,
    async stop() {
      if (settings.SHUTDOWN_DELAY_MS > 0) {
        phase = 'leaving';
        await delay(settings.SHUTDOWN_DELAY_MS);
      }
      phase = 'stopping';
      stopping.abort();
      await server.drain(settings.SHUTDOWN_GRACE_MS, () => {
        phase = 'closing';
        log.warn('some calls did not end within SHUTDOWN_GRACE_MS: they are cut off, and their executions go on');
      });
      await atMost(STOP_WITHIN_MS, Promise.allSettled([revoked?.stop(), calls.close(), keys.close()]));
      audit.close();
    },
  };
}

import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
import { cut } from '../shared/contract/json/visible-text.ts';
import type { Audit } from '../shared/runtime/access/audit.ts';
import type { Keyring } from '../shared/runtime/access/keyring.ts';
import { keyLimitsOf, needsKeys, type Settings } from '../shared/runtime/settings/settings.ts';
import type { Logger } from '../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../shared/runtime/telemetry/metrics.ts';
import type { Store } from '../shared/store/key-value-store.ts';
import { isStoreUnavailable } from '../shared/store/store-error.ts';
import { type Access, authenticate } from './access/authenticate.ts';
import { letIn } from './access/cors.ts';
import { limitCallers, limitRefusals } from './access/limits.ts';
import { createSessions } from './access/sessions.ts';
import type { RequestMetrics } from './api-metrics.ts';
import type { AskWorker } from './ask-worker.ts';
import type { Batches } from './batches/batches.ts';
import { createReadCsvBatch } from './batches/read-csv-batch.ts';
import { createOpenBodies, type OpenBodies } from './calls/admission.ts';
import { createRuleOfScene } from './calls/read-request.ts';
import type { SubmitExecution } from './calls/submit-execution.ts';
import type { SavedCases } from './cases/saved-cases.ts';
import type { ConsoleFile } from './console-files.ts';
import type { EraseExecution } from './executions/erase-execution.ts';
import type { Executions } from './executions/executions.ts';
import { NewerExecution } from './executions/read-jobs.ts';
import type { Environment } from './http/environment.ts';
import {
  at,
  auditRequests,
  checkHost,
  compressJson,
  createClientAddress,
  entering,
  keepNothing,
  layers,
  leaving,
  logAccess,
  type Phase,
  pageHeaders,
  plainBodies,
  refuseWhileStopping,
  refuseWithoutStore,
  tagAnswers,
  tellWhetherItRan,
  warnOfParameters,
  withoutStore,
  wrongMethod,
} from './http/middleware.ts';
import { problem } from './http/respond.ts';
import { inEnvelope } from './ice/envelope.ts';
import type { RunOnce } from './idempotency/run-once.ts';
import type { QueueHealth } from './queue-health.ts';
import { batchRoutes } from './routes/batches.ts';
import { browseRoutes } from './routes/browse.ts';
import { casesRoutes } from './routes/cases.ts';
import { eventRoutes } from './routes/events.ts';
import { executeRoute } from './routes/execute.ts';
import { executionRoutes } from './routes/executions.ts';
import { findExecutionsRoutes } from './routes/find-executions.ts';
import { iceRoutes } from './routes/ice.ts';
import { keptExecutionRoutes } from './routes/kept-executions.ts';
import { consoleRoutes } from './routes/pages/console.ts';
import { docsRoutes } from './routes/pages/docs.ts';
import { healthRoutes } from './routes/pages/health.ts';
import { metricsRoutes } from './routes/pages/metrics.ts';
import { sessionRoutes } from './routes/pages/session.ts';
import { readinessRoute } from './routes/readiness.ts';

type AppDependencies = {
  batches: Batches;
  savedCases: SavedCases;
  executions: Executions;
  eraseExecution: EraseExecution;
  runOnce: RunOnce;
  ask: AskWorker['ask'];
  submitExecution: SubmitExecution;
  health: QueueHealth;
  metrics: Metrics;
  requestMetrics: RequestMetrics;
  /** Begins a trace with each call, when there are traces. */
  traceRequests: MiddlewareHandler | undefined;
  settings: Settings;
  keyring: Keyring;
  audit: Audit;
  /** The store of sessions. */
  store: Store;
  log: Logger;
  phase: () => Phase;
  /** Aborts when this API begins to stop. */
  stopping: AbortSignal;
  /** The built page, by path. */
  consoleFiles: ReadonlyMap<string, ConsoleFile>;
};

const SHOWN_PATH = 200;

/** HTTP's table of contents: the middleware in order, then the routes. */
export function createApp({
  submitExecution,
  batches,
  savedCases,
  executions,
  eraseExecution,
  runOnce,
  ask,
  health,
  metrics,
  requestMetrics,
  traceRequests,
  settings,
  keyring,
  audit,
  store,
  log,
  phase,
  stopping,
  consoleFiles,
}: AppDependencies): Hono<Environment> {
  const app = new Hono<Environment>();
  const openBodies = measuredBodies(settings, metrics);
  const access = accessOf({ settings, store, keyring });
  // Before the log, whose lines name the trace.
  if (traceRequests) app.use('/rule-server/*', traceRequests);
  app.use(outerLayers(app, access, { settings, requestMetrics, audit, log }));
  if (access.origins.length > 0) app.use(letIn([...access.origins]));
  app.route('/', consoleRoutes(consoleFiles));
  app.use(
    layers(
      authenticate(access),
      limitCallers(keyLimitsOf(settings), metrics),
      plainBodies(),
      ...at(/^\/(rule|ice)-server\//, refuseWhileStopping(phase, metrics)),
    ),
  );
  app.route('/', sessionRoutes(access));
  app.route('/', healthRoutes({ health, isReady: () => phase() === 'running' }));
  app.route('/', metricsRoutes(metrics));
  app.route('/', docsRoutes());
  const calls = {
    submitExecution,
    ruleOfScene: createRuleOfScene({ ask }),
    closedByUs: () => phase() === 'closing',
    ...{ maxBodyBytes: settings.MAX_BODY_BYTES, openBodies },
  };
  app.route('/rule-server/mock', executeRoute({ ...calls, runOnce }));
  if (settings.ICE_ENDPOINTS) app.route('/ice-server/mock', iceRoutes({ ...calls, ask }));
  // The lists themselves are among these paths.
  for (const path of ['executions/*', 'failures', 'kept', 'batches/*', 'cases', 'readiness'])
    app.use(`/rule-server/mock/${path}`, layers(refuseWithoutStore(health)));
  const ofExecutions = [findExecutionsRoutes(executions), keptExecutionRoutes(executions)];
  const ofOne = [executionRoutes(executions, eraseExecution), eventRoutes({ executions, stopping })];
  for (const routes of [...ofExecutions, ...ofOne]) app.route('/rule-server/mock', routes);
  for (const path of ['schema', 'tree', 'versions', 'apps', 'rules', 'clients'])
    app.use(`/rule-server/mock/${path}`, layers(tagAnswers()));
  const ofBatches = { readCsvBatch: createReadCsvBatch({ ask }), maxBodyBytes: settings.MAX_BATCH_BYTES };
  app.route('/rule-server/mock', batchRoutes({ batches, ...ofBatches, openBodies, stopping }));
  app.route('/rule-server/mock', casesRoutes({ savedCases, openBodies }));
  for (const routes of ruleRoutes({ ask, savedCases, batches })) app.route('/rule-server/mock', routes);
  requestMetrics.expectFaults(app.routes);
  app.notFound(({ req }) => problem('nothing-there', { path: cut(req.path, SHOWN_PATH) }));
  app.onError((error, context) => answerError(error, context.get('requestId'), log));
  return app;
}

type Outer = Pick<AppDependencies, 'settings' | 'requestMetrics' | 'audit' | 'log'>;

/** Every request passes these layers, before anybody knows who sent it. */
function outerLayers(app: Hono<Environment>, access: Access, { settings, requestMetrics, audit, log }: Outer) {
  const onMethodNotAllowed = ({ req }: Context, methods: string[]) => wrongMethod(req.method, methods);
  return layers(
    entering(requestId()),
    logAccess(log, access.clientAddress),
    auditRequests(audit),
    limitRefusals(log, audit),
    requestMetrics.measure,
    ...(settings.ICE_ENDPOINTS ? at(/^\/ice-server\//, inEnvelope()) : []),
    ...at(/^\/rule-server\/mock\/(execute|batches)$/, tellWhetherItRan()),
    pageHeaders(),
    ...at(/^\/rule-server\//, compressJson(), warnOfParameters()),
    keepNothing(),
    checkHost({ host: settings.HOST, hasKeys: needsKeys(settings), origins: access.origins }),
    leaving(methodNotAllowed({ app, onMethodNotAllowed })),
  );
}

function ruleRoutes({ ask, savedCases, batches }: Pick<AppDependencies, 'ask' | 'savedCases' | 'batches'>) {
  return [browseRoutes({ ask }), readinessRoute({ ask, savedCases, store: batches.store })];
}

function accessOf({ settings, store, keyring }: Pick<AppDependencies, 'settings' | 'store' | 'keyring'>): Access {
  return {
    keyring,
    sessions: createSessions({ store, keyring }),
    origins: settings.CORS_ORIGINS,
    clientAddress: createClientAddress(settings.TRUSTED_PROXIES),
    userHeader: settings.TRUSTED_USER_HEADER,
  };
}

function measuredBodies({ MAX_OPEN_BODY_BYTES }: Settings, metrics: Metrics): OpenBodies {
  const openBodies = createOpenBodies(MAX_OPEN_BODY_BYTES);
  const help = 'Bytes of the request bodies of open calls (MAX_OPEN_BODY_BYTES).';
  metrics.gauge('open_body_bytes', help, () => openBodies.bytes);
  return openBodies;
}

function answerError(error: Error, requestId: string, log: Logger): Response {
  if (isStoreUnavailable(error)) return withoutStore();
  if (error instanceof NewerExecution) return problem('execution-of-newer-version', { mockId: error.mockId });
  log.error({ err: error, requestId }, 'a request failed unexpectedly');
  return problem('internal-error', { requestId });
}

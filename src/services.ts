import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DATA_FIELD } from './shared/contract/data-field.ts';
import { openQueueBackend } from './shared/queue/open-queue-backend.ts';
import type { QueueBackend } from './shared/queue/queue-backend.ts';
import type { EmbeddedFolder } from './shared/queue/sqlite/sqlite-backend.ts';
import { readRedisAddress } from './shared/runtime/settings/redis-address.ts';
import {
  BadSettings,
  DEFAULT_SHARED_DIR,
  isReachable,
  LOCAL_REDIS,
  needsKeys,
  refuseOpenDoor,
  type Settings,
} from './shared/runtime/settings/settings.ts';
import type { Logger } from './shared/runtime/telemetry/logger.ts';
import { createMetrics } from './shared/runtime/telemetry/metrics.ts';
import { openTracing } from './shared/runtime/telemetry/open-tracing.ts';
import type { Tracing } from './shared/runtime/telemetry/tracing.ts';
import { tracingPackages, version } from './version.ts';

/** A start does not wait longer for what Redis says of itself. */
const EXAMINE_WITHIN_MS = 1000;

type Running = { stop(): Promise<void> };
type Context = { settings: Settings; log: Logger };

// Each service loads the parts that it runs: a worker starts without the API, and in less time and memory.
const loadApi = () => import('./api/start.ts');
const loadWorker = () => import('./worker/process/start.ts');
const loadDemo = () => import('./client/demo.ts');

/** Starts the service a command names; undefined when it names none. */
export function startOf(command: string): ((context: Context) => Promise<Running>) | undefined {
  return services.get(command);
}

const services = new Map<string, (context: Context) => Promise<Running>>([
  ['api', startApiProcess],
  ['worker', startWorkerProcess],
  ['all', startAllInOne],
  ['demo-client', startDemoProcess],
]);

const tracingOf = (role: string, settings: Settings) =>
  openTracing(settings.OTEL_EXPORTER_OTLP_ENDPOINT, { role, version, packages: tracingPackages });

async function startApiProcess({ settings, log }: Context): Promise<Running> {
  refuseOpenDoor(settings);
  const tracing = await tracingOf('api', settings);
  const backend = await openQueue(settings, tracing, { otherwise: LOCAL_REDIS });
  warnWhenOpen(settings, log);
  const { startApi } = await loadApi();
  const api = await startApi({ settings, backend, log, metrics: createMetrics({ ofProcess: true }), tracing });
  log.info({ url: api.url, host: settings.HOST, queue: backend.where }, 'the API listens');
  return inOrder(api, closing(backend), tracing);
}

async function startWorkerProcess({ settings, log }: Context): Promise<Running> {
  const tracing = await tracingOf('worker', settings);
  const backend = await openQueue(settings, tracing, { otherwise: LOCAL_REDIS });
  const sharedDir = resolve(settings.SHARED_DIR ?? DEFAULT_SHARED_DIR);
  const metrics = createMetrics({ ofProcess: true });
  const { startWorker } = await loadWorker();
  const worker = await startWorker({ settings, backend, sharedDir, log, metrics, tracing });
  const { openKeyring } = await import('./shared/runtime/access/keyring.ts');
  const keys = await openKeyring({ settings, log });
  const { startHealthServer } = await import('./worker/process/health-server.ts');
  const health = await startHealthServer(settings, { worker, metrics, keyring: keys.keyring });
  log.info({ sharedDir, queue: backend.where, ...worker.state() }, 'the worker runs');
  return inOrder(worker, health, { stop: keys.close }, closing(backend), tracing);
}

async function startAllInOne({ settings, log }: Context): Promise<Running> {
  refuseOpenDoor(settings);
  const sharedDir = resolve(settings.SHARED_DIR ?? DEFAULT_SHARED_DIR);
  await mkdir(join(sharedDir, 'mock'), { recursive: true });
  const tracing = await tracingOf('all', settings);
  const folder = join(sharedDir, '.rule-server', 'store');
  const kept =
    settings.EMBEDDED_STORE === 'disk'
      ? { folder, flush: settings.EMBEDDED_FLUSH === '1', tell: (sentence: string) => log.error(sentence) }
      : undefined;
  const backend = await openQueue(settings, tracing, { kept });
  warnWhenOpen(settings, log);
  const metrics = createMetrics({ ofProcess: true });
  const { startWorker } = await loadWorker();
  const { startApi } = await loadApi();
  const worker = await startWorker({ settings, backend, sharedDir, log, metrics, tracing });
  const demo = settings.SHARED_DIR === undefined ? await startDemo(sharedDir, log) : undefined;
  const api = await startApi({ settings, backend, log, metrics, tracing });
  await api.ready;
  const { DEMO_APP } = await loadDemo();
  console.log(
    welcome({
      url: api.url,
      queue: backend.where,
      sharedDir,
      hasDemo: demo !== undefined,
      app: DEMO_APP,
      withKey: needsKeys(settings),
    }),
  );
  return inOrder(api, worker, demo, closing(backend), tracing);
}

async function startDemoProcess({ settings, log }: Context): Promise<Running> {
  const demo = await startDemo(resolve(settings.SHARED_DIR ?? DEFAULT_SHARED_DIR), log);
  log.info({ app: demo.app }, 'the demo client runs');
  return demo;
}

async function startDemo(sharedDir: string, log: Logger): Promise<Running & { app: number }> {
  const { DEMO_APP, startDemoClient } = await loadDemo();
  const client = await startDemoClient({ sharedDir, onError: (error) => log.warn({ err: error }, 'the demo client') });
  return { app: DEMO_APP, stop: () => client.close() };
}

type Welcome = { url: string; queue: string; sharedDir: string; hasDemo: boolean; app: number; withKey: boolean };

/** Its commands work as they are printed, whatever the settings: in a shell, in the folder that this process was started in. */
function welcome({ url, queue, sharedDir, hasDemo, app, withKey }: Welcome): string {
  const body = JSON.stringify({ app, ruleId: 1, [DATA_FIELD]: { uid: 1, cost: 120 } });
  const key = withKey ? ' -H "authorization: Bearer $RULE_SERVER_KEY"' : '';
  const start = `  SHARED_DIR=${quoted(sharedDir)} npx rule-server demo-client\n`;
  return `
The rule server runs: API and worker${hasDemo ? ` and a demo client (app ${app})` : ''} in one process.
  API                ${url}
  Queue              ${queue}
  Shared directory   ${sharedDir}

Run a rule${hasDemo ? '' : ` of your own client, or of the demo client, once it runs in another terminal`}${withKey ? ' (RULE_SERVER_KEY: an API key)' : ''}:
${hasDemo ? '' : start}  curl -s ${url}/rule-server/mock/execute${key} -H 'content-type: application/json' -d '${body}'
`;
}

/** One word for a shell, whatever is in it. */
const quoted = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function warnWhenOpen(settings: Settings, log: Logger): void {
  if (isReachable(settings) && !needsKeys(settings)) {
    const { HOST } = settings;
    log.warn({ HOST }, 'ANYBODY WHO REACHES THIS ADDRESS CAN RUN RULES (ALLOW_ANONYMOUS): set API_KEYS to change that');
  }
}

/** Where the queue is unless the settings say: at a Redis, or embedded, in a folder or in memory. */
type QueueElse = { otherwise?: string; kept?: EmbeddedFolder | undefined };

async function openQueue(
  settings: Settings,
  { telemetry }: Tracing,
  { otherwise, kept }: QueueElse,
): Promise<QueueBackend> {
  const backend = await openQueueBackend(await readRedisAddress(settings, otherwise), telemetry, kept);
  // Without an answer the start goes on: a Redis that can never serve is told by /readyz once it is there.
  const refusal = await Promise.race([backend.examined, delay(EXAMINE_WITHIN_MS, undefined, { ref: false })]);
  if (refusal !== undefined) throw new BadSettings(`${backend.where} cannot be used: ${refusal}.`);
  return backend;
}

function closing(backend: QueueBackend): Running {
  return { stop: () => backend.close() };
}

function inOrder(...parts: (Running | undefined)[]): Running {
  return {
    async stop() {
      for (const part of parts) await part?.stop();
    },
  };
}

import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { type RunningApi, startApi } from '../../src/api/start.ts';
import { openQueueBackend } from '../../src/shared/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../src/shared/queue/queue-backend.ts';
import { unless } from '../../src/shared/runtime/errno.ts';
import { readSettings, type Settings } from '../../src/shared/runtime/settings/settings.ts';
import { createLogger, type Logger } from '../../src/shared/runtime/telemetry/logger.ts';
import { createMetrics, type Metrics } from '../../src/shared/runtime/telemetry/metrics.ts';
import type { Step } from '../../src/worker/execution/execution.ts';
import { isOurFile, MADE_BY_US } from '../../src/worker/files/file-names.ts';
import { type RunningWorker, startWorker } from '../../src/worker/process/start.ts';
import { type Answer, type Call, httpCall } from './http-call.ts';
import { type Behaviour, createResponder, type Responder } from './responder.ts';
import { borrowDatabase } from './shared-redis.ts';
import { keepWritten, noteSettings } from './written-output.ts';

/** A test of what comes too late sets the time itself: in any other one nothing does. */
const QUICK: Record<string, string | number> = {
  PORT: 0,
  LOG_LEVEL: 'debug',
  RESULT_TIMEOUT_MS: 30_000,
  POLL_INTERVAL_MS: 200,
  CLIENT_TIMEOUT_MS: 30_000,
  QUEUE_TIMEOUT_MS: 30_000,
  SHUTDOWN_GRACE_MS: 5000,
};

/** For suites of dozens of tests at once: nothing ends by time, and no client is given up, however busy the machine is. */
export const PATIENT = { RESULT_TIMEOUT_MS: 240_000, QUEUE_TIMEOUT_MS: 240_000, CLIENT_TIMEOUT_MS: 240_000 };

export type ServiceOptions = {
  /** A Redis url. Without one: a database of the run's Redis, or an embedded queue where there is none. */
  queueUrl?: string;
  settings?: Record<string, string | number>;
  apis?: number;
  workers?: number;
  /** Where it works; otherwise a directory of its own, removed at the end. */
  sharedDir?: string;
  atStep?: (step: Step, mockId: string) => Promise<void> | void;
  /** The test leaves files behind on purpose. */
  leavesFiles?: boolean;
  /** The test provokes errors in the log on purpose. */
  logsErrors?: boolean;
};

export type LogLine = { level: number; msg: string; [member: string]: unknown };

export type Service = {
  url: string;
  /** One per API. */
  urls: string[];
  sharedDir: string;
  settings: Settings;
  apis: RunningApi[];
  workers: RunningWorker[];
  backends: QueueBackend[];
  log: LogLine[];
  /** POST execute, on the first API unless told; anything but text and bytes is sent as JSON. */
  execute(body: unknown, call?: Call & { url?: string }): Promise<Answer>;
  call(path: string, call?: Call): Promise<Answer>;
  /** A client of an app of its own. */
  clientThat(
    does: Behaviour,
    options?: Partial<Parameters<typeof createResponder>[0]>,
  ): Promise<Responder & { app: number }>;
  addWorker(): Promise<RunningWorker>;
  /** What is in the shared directory that belongs to an execution. */
  leftovers(): Promise<string[]>;
  /** Stops everything. Throws when files of ours were left, or an error was logged, that the test did not announce. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** The whole service in this process: real HTTP on a free port, a real queue, a real shared directory. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { apis: apiCount = 1, workers: workerCount = 1, atStep } = options;
  const settings = quickSettings(options.settings);
  const database = options.queueUrl !== undefined ? undefined : await borrowDatabase();
  const queueUrl = options.queueUrl ?? database?.url;
  noteSettings({ ...options.settings, QUEUE_URL: queueUrl });
  const sharedDir = options.sharedDir ?? (await mkdtemp(join(tmpdir(), 'rule-server-')));
  await mkdir(join(sharedDir, 'mock'), { recursive: true });
  const { log, lines } = captureLog();

  const backends: QueueBackend[] = [];
  const apis: RunningApi[] = [];
  const workers: RunningWorker[] = [];
  const registries: Metrics[] = [];
  const openBackend = async () => {
    // Processes on Redis have connections of their own; the embedded queue is one for all.
    if (queueUrl === undefined && backends[0]) return backends[0];
    const backend = await openQueueBackend(queueUrl);
    backends.push(backend);
    return backend;
  };
  // The first API and the first worker are one process, as far as metrics are concerned, and so on.
  const metricsOf = (index: number) => {
    registries[index] ??= createMetrics();
    return registries[index];
  };
  let workersStarted = 0; // a test may stop one and take it off the list
  const addWorker = async () => beginWorker(await openBackend());
  const beginWorker = async (backend: QueueBackend) => {
    const metrics = metricsOf(workersStarted++);
    const worker = await startWorker({
      settings,
      backend,
      sharedDir,
      log,
      metrics,
      sweepEveryMs: 1000,
      ...(atStep ? { atStep } : {}),
    });
    workers.push(worker);
    await vi.waitFor(() => assertTakesJobs(worker), { timeout: 60_000 });
    return worker;
  };
  const opened = async (count: number) => {
    const each: QueueBackend[] = [];
    for (let index = 0; index < count; index++) each.push(await openBackend());
    return each;
  };
  // First the workers, so that the APIs find them there.
  await Promise.all((await opened(workerCount)).map(beginWorker));
  const beginApi = (backend: QueueBackend, index: number) =>
    startApi({ settings, backend, log, metrics: metricsOf(index) });
  apis.push(...(await Promise.all((await opened(apiCount)).map(beginApi))));
  await Promise.all(apis.map(({ ready }) => ready));

  let ofTests = 5000;
  const urls = apis.map(({ url }) => url);
  const url = urls[0] ?? '';
  const call = (path: string, more?: Call) => httpCall(`${url}${path}`, more);
  const leftovers = () => findLeftovers(join(sharedDir, 'mock'));
  const logged = (atLeast: number) => lines.filter(({ level }) => level >= atLeast);
  let stopping: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    try {
      if (!options.leavesFiles)
        await vi.waitFor(async () => assertNone(await leftovers(), logged(40)), { timeout: 60_000 });
    } finally {
      await Promise.all([...apis, ...workers].map((each) => each.stop()));
      await Promise.all(backends.map((backend) => backend.close()));
      await database?.stop();
      if (options.sharedDir === undefined) await rm(sharedDir, { recursive: true, force: true });
    }
    const errors = logged(50);
    if (errors.length > 0 && !options.logsErrors) throw new Error(`errors were logged: ${JSON.stringify(errors)}`);
  }
  const stop = () => {
    stopping ??= stopAll();
    return stopping;
  };

  return {
    url,
    urls,
    sharedDir,
    settings,
    apis,
    workers,
    backends,
    log: lines,
    call,
    execute: (body, { url: to = url, ...more } = {}) =>
      httpCall(`${to}/rule-server/mock/execute`, {
        method: 'POST',
        ...more,
        headers: { 'content-type': 'application/json', ...more.headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    async clientThat(does, options = {}) {
      const app = options.app ?? ++ofTests;
      return Object.assign(await createResponder({ sharedDir, does, ...options, app }), { app });
    },
    addWorker,
    leftovers,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export function quickSettings(settings: Record<string, string | number> = {}): Settings {
  const all = Object.entries({ ...QUICK, ...settings }).map(([name, value]) => [name, String(value)]);
  return readSettings(Object.fromEntries(all));
}

/** A logger whose lines a test can look at. */
export function captureLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (line: string) => {
    keepWritten(`in-process-${process.pid}`, line);
    lines.push(JSON.parse(line));
  };
  return { lines, log: createLogger({ level: 'debug', role: 'test' }, { write }) };
}

function assertTakesJobs(worker: RunningWorker): void {
  const { takesJobs, reason } = worker.state();
  if (!takesJobs) throw new Error(`the worker takes no jobs: ${reason}`);
}

function assertNone(leftovers: string[], warnings: LogLine[]): void {
  if (leftovers.length > 0)
    throw new Error(`files were left behind: ${leftovers.join(', ')}; warned of: ${JSON.stringify(warnings)}`);
}

async function findLeftovers(mock: string): Promise<string[]> {
  const entries = (await readdir(mock, { recursive: true, withFileTypes: true }).catch(unless('ENOENT'))) ?? [];
  return entries
    .filter(({ name }) => isOurFile(name) || name === MADE_BY_US || name.startsWith('.'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(mock.length + 1));
}

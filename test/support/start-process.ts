import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';
import type { Step } from '../../src/worker/execution/execution.ts';
import { atTestEnd } from './at-test-end.ts';
import { withDeadline } from './deadline.ts';
import { type Answer, type Call, httpCall } from './http-call.ts';
import { keepWritten, noteSettings, withMarkedInput } from './written-output.ts';

const ROOT = join(import.meta.dirname, '../..');
const START_TIMEOUT_MS = 60_000;
/** Starting is what a process needs a core for: all at once they would hold each other, and every clock, up. */
const STARTS_AT_ONCE = 3;

export type LogLine = { level: number; msg: string; [member: string]: unknown };

/** What happens to a worker at a step of its first execution that gets there. */
export type Fault = { step: Step; signal: 'SIGKILL' | 'SIGSTOP' };

export type ServiceProcess = {
  pid: number;
  /** Its log so far. */
  log: LogLine[];
  /** What it wrote that is no log line: nothing, unless it crashed. */
  noise: string[];
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGSTOP, and back. */
  freeze(): void;
  wake(): void;
  /** SIGTERM; resolves when it is gone, to its exit code and how long that took. */
  terminate(): Promise<{ code: number | null; ms: number }>;
  readonly isRunning: boolean;
  /** The first log line with this message, which may be there already. */
  logged(message: string, timeoutMs?: number): Promise<LogLine>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type ApiProcess = ServiceProcess & {
  url: string;
  execute(body: unknown, call?: Call): Promise<Answer>;
  isReady(): Promise<boolean>;
};

type Options = {
  queueUrl: string;
  settings?: Record<string, string | number>;
  /** Whether to wait until it can do its work; true unless told otherwise. */
  untilReady?: boolean;
};

/** `rule-server api` in a process of its own, on a free port. */
export async function startApiProcess({ queueUrl, settings = {}, untilReady = true }: Options): Promise<ApiProcess> {
  const command = [process.execPath, join(ROOT, 'bin/rule-server.js'), 'api'];
  const started = await start(command, { PORT: 0, QUEUE_URL: queueUrl, ...settings }, 'the API listens');
  const { url } = await started.logged('the API listens');
  const isReady = () =>
    httpCall(`${url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  const api = Object.assign(started, {
    url: String(url),
    isReady,
    execute: (body: unknown, call: Call = {}) =>
      httpCall(`${url}/rule-server/mock/execute`, {
        method: 'POST',
        ...call,
        headers: { 'content-type': 'application/json', ...call.headers },
        body: JSON.stringify(withMarkedInput(body)),
      }),
  });
  if (untilReady) await vi.waitFor(async () => assertTrue(await isReady(), 'the API is not ready'), START_TIMEOUT_MS);
  return api;
}

/**
 * `rule-server worker` in a process of its own; with a `fault`, the same worker that dies or falls asleep at a step. `under`:
 * a program with its parameters that runs it.
 */
export async function startWorkerProcess({
  queueUrl,
  sharedDir,
  settings = {},
  fault,
  under = [],
  untilReady = true,
}: Options & { sharedDir: string; fault?: Fault; under?: string[] }): Promise<ServiceProcess> {
  const script = fault
    ? [join(ROOT, 'test/support/fault-worker.ts'), JSON.stringify(fault)]
    : [join(ROOT, 'bin/rule-server.js'), 'worker'];
  const command = [...under, process.execPath, ...script];
  const worker = await start(command, { QUEUE_URL: queueUrl, SHARED_DIR: sharedDir, ...settings }, 'the worker runs');
  if (untilReady) await worker.logged('this worker takes jobs');
  return worker;
}

/**
 * `rule-server all`, an API and a worker in one process with a queue in its memory, at a port of the test's choice. `under`: a program with
 * its parameters that becomes it.
 */
export async function startWholeProcess({
  sharedDir,
  port,
  settings = {},
  under = [],
  untilReady = true,
}: Pick<Options, 'settings' | 'untilReady'> & {
  sharedDir: string;
  port: number;
  under?: string[];
}): Promise<ServiceProcess> {
  const command = [...under, process.execPath, join(ROOT, 'bin/rule-server.js'), 'all'];
  const environment = { PORT: port, SHARED_DIR: sharedDir, EMBEDDED_STORE: 'memory', ...settings };
  if (!untilReady) return launch(command, environment);
  const started = await start(command, environment, 'this worker takes jobs');
  await vi.waitFor(() => httpCall(`http://127.0.0.1:${port}/healthz`), START_TIMEOUT_MS); // the API listens after that
  return started;
}

// A test run that ends without stopping them must not leave processes behind, least of all frozen ones.
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

let starting = 0;

async function start(
  command: string[],
  settings: Record<string, string | number>,
  lastWords: string,
): Promise<ServiceProcess> {
  await vi.waitUntil(() => starting < STARTS_AT_ONCE, { timeout: 60_000 * START_TIMEOUT_MS, interval: 20 });
  starting++;
  try {
    const started = launch(command, settings);
    await started.logged(lastWords, START_TIMEOUT_MS);
    return started;
  } finally {
    starting--;
  }
}

function launch([program = '', ...parameters]: string[], settings: Record<string, string | number>): ServiceProcess {
  noteSettings(settings);
  const environment = Object.entries({ LOG_LEVEL: 'debug', ...settings }).map(([name, value]) => [name, String(value)]);
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of this process's own settings.
    env: { PATH: process.env.PATH, ...Object.fromEntries(environment) },
  });
  children.add(child);
  child.once('exit', () => children.delete(child));

  const log: LogLine[] = [];
  const noise: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (written) => keepWritten(child.pid ?? 0, written));
    createInterface(stream).on('line', (line) => {
      const parsed = parseLine(line);
      if (parsed) log.push(parsed);
      else noise.push(line);
    });
  }

  const running = () => child.exitCode === null && child.signalCode === null;
  const kill = async () => {
    if (!running()) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  atTestEnd(kill);
  return {
    pid: child.pid ?? 0,
    log,
    noise,
    kill,
    freeze: () => void child.kill('SIGSTOP'),
    wake: () => void child.kill('SIGCONT'),
    terminate: () => terminate(child),
    get isRunning() {
      return running();
    },
    logged: (message, timeoutMs = 60_000) =>
      vi.waitFor(
        () => {
          const line = log.find(({ msg }) => msg === message);
          if (line) return line;
          throw new Error(`"${message}" was not logged, but: ${[...log.map(({ msg }) => msg), ...noise].join(' | ')}`);
        },
        { timeout: timeoutMs, interval: 5 },
      ),
    [Symbol.asyncDispose]: kill,
  };
}

async function terminate(child: ChildProcess): Promise<{ code: number | null; ms: number }> {
  const startedAt = performance.now();
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await withDeadline(exited, 60_000, 'ending after SIGTERM');
  return { code, ms: Math.round(performance.now() - startedAt) };
}

function parseLine(line: string): LogLine | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null && 'msg' in parsed ? (parsed as LogLine) : undefined;
  } catch {
    return undefined;
  }
}

function assertTrue(value: boolean, otherwise: string): void {
  if (!value) throw new Error(otherwise);
}

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CLOCK_TICKS_PER_SECOND = 100;
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts a script of this folder and resolves with the first message it sends. `environment`: added to ours. */
export async function startScript(
  name: string,
  parameters: string[],
  environment: Record<string, string> = {},
): Promise<{ child: ChildProcess; message: unknown }> {
  const env = { ...process.env, ...environment };
  const child = fork(fileURLToPath(new URL(name, import.meta.url)), parameters, { env });
  children.add(child);
  const [message] = await once(child, 'message');
  return { child, message };
}

/** Starts the service itself, the way an operator does: that of `checkout`, or of CHECKOUT, so that each bench can measure another commit. */
export function startService(
  role: 'api' | 'worker' | 'all' | 'demo-client',
  environment: Record<string, string>,
  checkout = process.env.CHECKOUT ?? join(import.meta.dirname, '..'),
): ChildProcess {
  const child = spawn(process.execPath, [join(checkout, 'bin/rule-server.js'), role], {
    env: { ...process.env, LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  return child;
}

/** Starts all in one process without Redis, in `folder`, with these settings alone: nothing of this environment decides what is measured. */
export function startEmbedded(folder: string, settings: Record<string, string>, checkout: string): ChildProcess {
  const child = spawn(process.execPath, [join(checkout, 'bin/rule-server.js'), 'all'], {
    cwd: folder,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'error', ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.add(child);
  return child;
}

/** `more`: other settings, as arguments. */
export function startRedis(port: number, more: readonly string[] = []): ChildProcess {
  const child = spawn('redis-server', ['--port', String(port), '--save', '', '--appendonly', 'no', ...more], {
    stdio: 'ignore',
  });
  children.add(child);
  return child;
}

export async function stop(...stopped: ChildProcess[]): Promise<void> {
  for (const child of stopped) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    children.delete(child);
  }
}

export async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  children.delete(child);
}

type Asking = RequestInit & { everyMs?: number };

/** Waits until a URL answers 200. */
export async function untilReady(
  url: string,
  deadlineMs = 20_000,
  { everyMs = 50, ...request }: Asking = {},
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const ok = await fetch(url, request).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (Date.now() > deadline) throw new Error(`${url} was not ready within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Resident memory in MB and CPU seconds used so far, as Linux counts them. */
export function usage({ pid }: { pid?: number | undefined }): { megabytes: number; cpuSeconds: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const cpuSeconds = (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  const megabytes = (Number(fields[21]) * 4096) / 1024 / 1024;
  return { megabytes, cpuSeconds };
}

/** Seconds that the main thread of a process has run, as Linux counts them in nanoseconds. */
export function mainThreadSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
}

/** Where files of a bench lie: in memory where there is such a place, because the service is measured and not a disk; or BENCH_DIR. */
export function benchPlace(): string {
  return process.env.BENCH_DIR ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
}

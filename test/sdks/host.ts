import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRegistration, registrations } from './registration.ts';
import type { Command } from './sdk.ts';

export interface HostOptions {
  sharedDir: string;
  app: number;
  lane?: string;
  /** How often the SDK looks for requests; its own 2 s when left out. The Java SDK counts whole seconds, at least one. */
  pollSeconds?: number;
  /** How often it beats; its own 10 s when left out. */
  heartbeatSeconds?: number;
  startTimeoutMs?: number;
}

export interface HostExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Host {
  /** The address as the SDK published it. */
  address: string;
  /** Its `m_` file. */
  registration: string;
  process: ChildProcess;
  exited: Promise<HostExit>;
  /** What the process printed so far, the last 64 KiB. */
  output(): string;
  /** SIGTERM: the SDK unregisters and removes its directories. SIGKILL follows when it takes longer than 15 s. */
  stop(): Promise<HostExit>;
  /** SIGKILL: everything it wrote stays behind. */
  kill(): Promise<HostExit>;
}

const starting = new Map<string, Promise<unknown>>();

/** Starts a host and resolves when it has registered; throws with its output when it ends or stays silent instead. */
export function startHost(command: Command, options: HostOptions): Promise<Host> {
  const lane = options.lane ? ['lane', options.lane] : [];
  const clients = join(options.sharedDir, 'clients', String(options.app), ...lane);
  // One after the other per folder: a registration names no process, so only its being new tells whose it is.
  const previous = starting.get(clients) ?? Promise.resolve();
  const host = previous.catch(() => undefined).then(() => launch(command, options, clients));
  starting.set(clients, host);
  return host;
}

async function launch(command: Command, options: HostOptions, clients: string): Promise<Host> {
  const known = await registrations(clients);
  const child = spawn(command.file, command.args, { env: environment(options), stdio: ['ignore', 'pipe', 'pipe'] });
  const output = tail(child);
  const exited = ending(child);
  const kill = () => {
    child.kill('SIGKILL');
    return exited;
  };

  const giveUp = new AbortController();
  try {
    const { registration, address } = await Promise.race([
      newRegistration(clients, known, giveUp.signal),
      exited.then((exit) => failed(`ended with ${exit.signal ?? exit.code}`, output())),
      sleep(options.startTimeoutMs ?? 30_000, undefined, { signal: giveUp.signal }).then(() =>
        failed('did not register in time', output()),
      ),
    ]);
    return { address, registration, process: child, exited, output, kill, stop: () => stop(child, exited) };
  } catch (error) {
    await kill().catch(() => undefined);
    throw error;
  } finally {
    giveUp.abort();
  }
}

function environment(options: HostOptions): NodeJS.ProcessEnv {
  const { sharedDir, app, lane = '', pollSeconds = 2, heartbeatSeconds = 10 } = options;
  return {
    ...process.env,
    SHARED_DIR: sharedDir,
    APP: String(app),
    LANE: lane,
    POLL_SECONDS: String(pollSeconds),
    HEARTBEAT_SECONDS: String(heartbeatSeconds),
  };
}

function ending(child: ChildProcess): Promise<HostExit> {
  const withUs = () => child.kill('SIGKILL');
  process.once('exit', withUs);
  const exited = new Promise<HostExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code, signal }));
  }).finally(() => process.off('exit', withUs));
  exited.catch(() => undefined);
  return exited;
}

async function stop(child: ChildProcess, exited: Promise<HostExit>): Promise<HostExit> {
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), 15_000);
  return exited.finally(() => clearTimeout(patience));
}

function tail(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-64 * 1024);
    });
  }
  return () => text;
}

function failed(how: string, output: string): never {
  throw new Error(`the host ${how}; it printed:\n${output}`);
}

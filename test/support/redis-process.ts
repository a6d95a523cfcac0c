import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { atTestEnd } from './at-test-end.ts';
import { withDeadline } from './deadline.ts';
import { freePort } from './free-port.ts';
import { type RedisOptions, type RedisServer, redisArguments } from './redis-server.ts';
import { keepWritten } from './written-output.ts';

const READY = 'Ready to accept connections';
const START_TIMEOUT_MS = 20_000;
const ATTEMPTS = 5;

/** `more`: further parameters of redis-server. `host`: an address of this machine. */
export type RedisProcessOptions = RedisOptions & { command?: string; more?: string[]; host?: string };

/** A local redis-server that a test may treat badly: it keeps its port and, with `appendOnly`, its data. */
export type RedisProcess = Required<RedisServer> & {
  kind: 'binary';
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again after `kill`. `loseData` removes what it had written first. */
  start(options?: { loseData?: boolean }): Promise<void>;
  isRunning(): boolean;
  /** Writes are refused with OOM beyond this (policy noeviction); 0 = no limit. */
  setMaxMemory(bytes: number): Promise<void>;
};

/** Starts `redis-server` from the PATH on a free port of 127.0.0.1, in a directory of its own. */
export async function startRedisProcess(options: RedisProcessOptions = {}): Promise<RedisProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-redis-'));
  try {
    return await onSomeFreePort((port) => runOn(port, directory, options));
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

async function onSomeFreePort(run: (port: number) => Promise<RedisProcess>): Promise<RedisProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run(await freePort());
    } catch (error) {
      const portTaken = String(error).includes('Address already in use');
      if (!portTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

async function runOn(port: number, directory: string, options: RedisProcessOptions): Promise<RedisProcess> {
  const { host = '127.0.0.1' } = options;
  const url = `redis://${host}:${port}`;
  const launch = () =>
    launchRedis(options.command ?? 'redis-server', [
      ...['--port', String(port), '--bind', host, '--dir', directory],
      ...redisArguments(options),
      ...(options.more ?? []),
    ]);
  let child = await launch();

  const kill = () => killed(child);
  // Once, and not at each start: a suite's server that a test restarted is the suite's.
  atTestEnd(kill);
  const start: RedisProcess['start'] = async ({ loseData = false } = {}) => {
    if (isRunning(child)) return;
    if (loseData) await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
    child = await launch();
  };
  return {
    kind: 'binary',
    url,
    kill,
    isRunning: () => isRunning(child),
    start,
    restart: async () => {
      await kill();
      await start();
    },
    pause: async () => void child.kill('SIGSTOP'),
    resume: async () => void child.kill('SIGCONT'),
    setMaxMemory: (bytes) => setMaxMemory(url, bytes),
    stop: async () => {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

// A test process that ends without calling stop() must not leave servers behind.
const children = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts a program of Redis and waits until it says that it is ready. */
export async function launchRedis(command: string, args: string[], said = READY): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  try {
    await withDeadline(ready(child, said), START_TIMEOUT_MS, `starting ${command}`);
    return child;
  } catch (error) {
    await killed(child);
    throw error;
  }
}

function ready(child: ChildProcess, said: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      keepWritten(`redis-${child.pid}`, chunk);
      output = `${output}${chunk}`.slice(-4096);
      if (output.includes(said)) resolve();
    };
    // Both streams are read to the end: a full pipe would stop the server.
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`redis-server ended with ${code} before it was ready: ${output}`)));
  });
}

export async function killed(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

async function setMaxMemory(url: string, bytes: number): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await redis.config('SET', 'maxmemory', String(bytes));
  } finally {
    redis.disconnect();
  }
}

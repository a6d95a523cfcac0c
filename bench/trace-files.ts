import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Operations that name a path or list a directory: over a network each is a round trip or more. */
const TRACED = '%file,getdents64';
/** Of an operation that another one interrupts strace prints two lines; the second one says `resumed`. */
const LINE = /^\d+ +(\w+)\((.*)/gm;

/** Until it has every thread. */
const ATTACHING_MS = 500;

export type Operation = { name: string; parameters: string };

/** The file operations of a process while `run` is under way, without the paths; undefined where there is no strace, or none may be used. */
export async function traceFiles<Result>(pid: number, run: () => Promise<Result>) {
  await using cleanUp = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), 'rule-server-bench-'));
  cleanUp.defer(() => rm(home, { recursive: true }));
  const output = join(home, 'trace');
  const options = ['-f', '-qq', '-s', '0', '-e', `trace=${TRACED}`, '-e', 'signal=none', '-o', output];
  const tracer = spawn('strace', [...options, '-p', String(pid)], { stdio: 'ignore' });
  const ended = once(tracer, 'exit').then(
    () => true,
    () => true,
  );
  if (await Promise.race([ended, sleep(ATTACHING_MS, false)])) return undefined;
  const startedAt = performance.now();
  const result = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  tracer.kill('SIGINT');
  await ended;
  const found = [...(await readFile(output, 'utf8')).matchAll(LINE)];
  const operations = found.map(([, name = '', parameters = '']): Operation => ({ name, parameters }));
  return { operations, seconds, result };
}

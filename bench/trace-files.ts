import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Operations that name a path or list a directory: over a network each is a round trip or more. */
const TRACED = '%file,getdents64';
/** Of an operation that another one interrupts strace prints two lines; the second one says `resumed`. */
const LINE = /^\d+ +(\w+)\((.*)/;

export type Operation = { name: string; parameters: string };

/** The file operations of a process while `run` is under way, with so many characters of their texts; undefined without strace. */
export async function traceFiles<Result>(pid: number, run: () => Promise<Result>, textLength = 0) {
  const home = await mkdtemp(join(tmpdir(), 'rule-server-bench-'));
  const output = join(home, 'trace');
  const options = ['-f', '-qq', '-s', String(textLength), '-e', `trace=${TRACED}`, '-e', 'signal=none', '-o', output];
  const tracer = spawn('strace', [...options, '-p', String(pid)], { stdio: 'ignore' });
  const started = once(tracer, 'spawn').then(
    () => true,
    () => false,
  );
  if (!(await started)) return undefined;
  await sleep(500); // until it has every thread
  const startedAt = performance.now();
  const result = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const exited = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await exited;
  const operations: Operation[] = [];
  for (const line of (await readFile(output, 'utf8')).split('\n')) {
    const [, name, parameters = ''] = LINE.exec(line) ?? [];
    if (name !== undefined) operations.push({ name, parameters });
  }
  await rm(home, { recursive: true });
  return { operations, seconds, result };
}

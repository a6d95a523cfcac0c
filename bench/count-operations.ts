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
/** An open file is asked what it is: that is no trip to its directory. */
const OF_OPEN_FILE = /^\d+, ""/;

/** What file operations a process does per call, by system call, beyond what it does without calls; undefined without strace. */
export async function countFileOperations(pid: number, run: () => Promise<number>) {
  const idle = await during(pid, () => sleep(3000, 1));
  const busy = await during(pid, run);
  if (!idle || !busy) return undefined;
  const each: Record<string, number> = {};
  for (const [name, times] of busy.counts) {
    const without = ((idle.counts.get(name) ?? 0) / idle.seconds) * busy.seconds;
    const perCall = (times - without) / busy.calls;
    if (perCall >= 0.05) each[name] = perCall;
  }
  return { perCall: Object.values(each).reduce((sum, times) => sum + times, 0), each };
}

async function during(pid: number, run: () => Promise<number>) {
  const home = await mkdtemp(join(tmpdir(), 'rule-server-bench-'));
  const output = join(home, 'trace');
  const options = ['-f', '-qq', '-s', '0', '-e', `trace=${TRACED}`, '-e', 'signal=none', '-o', output];
  const tracer = spawn('strace', [...options, '-p', String(pid)], { stdio: 'ignore' });
  const started = once(tracer, 'spawn').then(
    () => true,
    () => false,
  );
  if (!(await started)) return undefined;
  await sleep(500); // until it has every thread
  const startedAt = performance.now();
  const calls = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const exited = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await exited;
  const counts = new Map<string, number>();
  for (const line of (await readFile(output, 'utf8')).split('\n')) {
    const [, name, rest = ''] = LINE.exec(line) ?? [];
    if (name !== undefined && !OF_OPEN_FILE.test(rest)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  await rm(home, { recursive: true });
  return { counts, calls, seconds };
}

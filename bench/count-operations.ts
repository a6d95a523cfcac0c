import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Operations that name a path or list a directory: over a network each is a round trip or more. */
const TRACED = '%file,getdents64';
const LINE = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(?!total$)(\w+)$/;

/** What file operations a process does per call, by system call, beyond what it does without calls; undefined without strace. */
export async function countFileOperations(pid: number, run: () => Promise<number>) {
  const idle = await during(pid, () => new Promise<number>((resolve) => setTimeout(() => resolve(1), 3000)));
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
  const tracer = spawn('strace', ['-f', '-c', '-e', `trace=${TRACED}`, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const failed = once(tracer, 'error').then(() => true);
  let text = '';
  tracer.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const attached = once(tracer.stderr, 'data').then(() => false);
  if (await Promise.race([failed, attached])) return undefined;
  const startedAt = performance.now();
  const calls = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const exited = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await exited;
  const lines = text.split('\n').map((line) => LINE.exec(line));
  const counts = new Map(lines.flatMap((found) => (found ? [[found[2] ?? '', Number(found[1])] as const] : [])));
  return { counts, calls, seconds };
}

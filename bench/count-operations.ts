import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, traceFiles } from './trace-files.ts';

/** An open file is asked what it is: that is no trip to its directory. */
const OF_OPEN_FILE = /^\d+, ""/;

/** What file operations a process does per call, by system call, beyond what it does without calls; undefined without strace. */
export async function countFileOperations(pid: number, run: () => Promise<number>) {
  const idle = await traceFiles(pid, () => sleep(3000));
  const busy = await traceFiles(pid, run);
  if (!idle || !busy) return undefined;
  const idleCounts = countByName(idle.operations);
  const each: Record<string, number> = {};
  for (const [name, times] of countByName(busy.operations)) {
    const without = ((idleCounts.get(name) ?? 0) / idle.seconds) * busy.seconds;
    const perCall = (times - without) / busy.result;
    if (perCall >= 0.05) each[name] = perCall;
  }
  return { perCall: Object.values(each).reduce((sum, times) => sum + times, 0), each };
}

function countByName(operations: readonly Operation[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, parameters } of operations)
    if (!OF_OPEN_FILE.test(parameters)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

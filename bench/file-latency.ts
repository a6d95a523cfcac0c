import { readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const TIMES = 2000;

/** How long one file operation of those that a call needs takes in a folder, one after the other, in µs. */
export function fileLatencyUs(folder: string): number {
  const [draft, file] = [join(folder, 'latency.tmp'), join(folder, 'latency.json')];
  const operations = [
    () => writeFileSync(draft, '{}'),
    () => renameSync(draft, file),
    () => statSync(file),
    () => readFileSync(file),
    () => unlinkSync(file),
  ];
  const startedAt = performance.now();
  for (let time = 0; time < TIMES; time++) for (const operation of operations) operation();
  return ((performance.now() - startedAt) * 1000) / TIMES / operations.length;
}

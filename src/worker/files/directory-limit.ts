import { readlinkSync } from 'node:fs';
import { createConcurrencyLimit } from './concurrency-limit.ts';

/** A directory that hangs keeps so many threads busy, and no more: the others go on. */
export const AT_ONCE = 2;
const HANGS_AFTER_MS = 3000;

type Limited = { run: ReturnType<typeof createConcurrencyLimit>; users: number; begun: Set<{ at: number }> };
const limits = new Map<string, Limited>();

/** The name for looks at a directory itself: whoever waits for one may hold the places of what is done in it. */
export const underOwnName = (directory: string) => `${directory}/`;

/** Runs file operations of one directory, two at a time. */
export async function inDirectory<T>(directory: string, task: () => Promise<T>): Promise<T> {
  const limit: Limited = limits.get(directory) ?? {
    run: createConcurrencyLimit(AT_ONCE),
    users: 0,
    begun: new Set(),
  };
  limits.set(directory, limit);
  limit.users++;
  try {
    return await limit.run(async () => {
      const operation = { at: performance.now() };
      limit.begun.add(operation);
      return task().finally(() => limit.begun.delete(operation));
    });
  } finally {
    limit.users--;
    if (limit.users === 0) limits.delete(directory);
  }
}

/** The directories in which a file operation does not come to its end. */
export function hangingDirectories(): string[] {
  const before = performance.now() - HANGS_AFTER_MS;
  const hanging = [...limits].filter(([, { begun }]) => [...begun].some(({ at }) => at < before));
  return [...new Set(hanging.map(([directory]) => nameOf(directory)))];
}

/** The name of a directory that is used through its handle. The kernel knows it without asking the file system. */
function nameOf(directory: string): string {
  if (!directory.startsWith('/proc/self/fd/')) return directory.replace(/\/$/, '');
  try {
    return readlinkSync(directory);
  } catch {
    return directory;
  }
}

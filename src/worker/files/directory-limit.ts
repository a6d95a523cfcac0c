import { createConcurrencyLimit } from './concurrency-limit.ts';

/** A directory that hangs keeps so many threads busy, and no more: the others go on. */
export const AT_ONCE = 2;

const limits = new Map<string, { run: ReturnType<typeof createConcurrencyLimit>; users: number }>();

/** Runs file operations of one directory, two at a time. */
export async function inDirectory<T>(directory: string, task: () => Promise<T>): Promise<T> {
  const limit = limits.get(directory) ?? { run: createConcurrencyLimit(AT_ONCE), users: 0 };
  limits.set(directory, limit);
  limit.users++;
  try {
    return await limit.run(task);
  } finally {
    limit.users--;
    if (limit.users === 0) limits.delete(directory);
  }
}

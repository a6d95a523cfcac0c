import { LRUCache } from 'lru-cache';
import { aLink, type Reading, readingOfError } from '../../../shared/rules/reading.ts';
import { lstat } from '../file-system.ts';
import type { FileStats } from '../ports/operations.ts';
import { inBulk, turn } from './bulk.ts';

/** Coarser than the time stamps of any file system in use (FAT: 2 s). */
const SETTLED_AFTER_MS = 2000;
const ENTRY_OVERHEAD_BYTES = 512;

type Entry<T> = { identity: string; firstSeenAt: number; settled: boolean; weight: number; reading: Reading<T> };
type Options<T> = {
  load: (path: string, stats: FileStats) => Promise<Reading<T>>;
  maxBytes: number;
  now: () => number;
  /** The path that a link leads to. No link is followed unless it is given. */
  follow?: (path: string) => Promise<Reading<string>>;
};

/**
 * Remembers what was read from each path for as long as `lstat` says that it is the same, so a warm read costs one lstat.
 * The sizes of the remembered files add up to `maxBytes` at most; the least recently used go first.
 */
export function createPathCache<T>({ load, maxBytes, now, follow = async () => aLink }: Options<T>) {
  const entries = new LRUCache<string, Entry<T>>({ maxSize: maxBytes, sizeCalculation: ({ weight }) => weight });

  async function read(path: string): Promise<Reading<T>> {
    const startedAt = now();
    const named = await lstat(path);
    const target: Reading<string> = named.isSymbolicLink() ? await follow(path) : { kind: 'found', value: path };
    if (target.kind !== 'found') return target;
    const stats = target.value === path ? named : await lstat(target.value);
    const identity = `${target.value}:${identityOf(stats)}`;
    const known = entries.get(path);
    const same = known?.identity === identity ? known : undefined;
    if (same?.settled) return same.reading;
    await turn();
    const reading = await load(path, stats);
    // Two edits within one tick of the file system's clock look the same: what was read is trusted only once it has been
    // read again when that tick was surely over.
    const firstSeenAt = same?.firstSeenAt ?? startedAt;
    const settled = startedAt - firstSeenAt >= SETTLED_AFTER_MS;
    entries.set(path, { identity, firstSeenAt, settled, weight: stats.size + ENTRY_OVERHEAD_BYTES, reading });
    return reading;
  }

  return {
    /** Reads a path as it is now. */
    read: (path: string): Promise<Reading<T>> =>
      inBulk(async () => {
        try {
          return await read(path);
        } catch (error) {
          entries.delete(path);
          return readingOfError(error);
        }
      }),
  };
}

function identityOf({ dev, ino, size, mtimeMs, ctimeMs }: FileStats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

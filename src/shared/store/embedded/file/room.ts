import { statfsSync } from 'node:fs';
import { StoreTakesNoWrites } from '../../redis-connections.ts';

const MIB = 1024 * 1024;
/**
 * Below the first no new call is taken, and what is open comes to its end. Below the second nothing is written, so that the log keeps
 * room for a checkpoint.
 */
const NEEDED = { forCalls: 64 * MIB, forStatements: 32 * MIB };

/** Not at each transaction: what is written meanwhile is far less than what is left. */
const CHECKED_EVERY_MS = 100;

/** The disk of the store is full. The statement was not sent, so nothing was done. */
class StoreFull extends StoreTakesNoWrites {
  readonly code = 'ENOSPC';
}

export type Room = ReturnType<typeof createRoom>;

/** How much room the disk of a folder has. */
export function createRoom(folder: string) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  function lacking(needed: number): string | null {
    const free = freeBytes(folder);
    if (free === undefined || free >= needed) return null;
    return `the disk of SHARED_DIR is full: ${Math.floor(free / MIB)} MB are left, and ${NEEDED.forCalls / MIB} are needed; make room there`;
  }
  return {
    /** The reason why no new call is taken; null when there is room for it. */
    full: (): string | null => lacking(NEEDED.forCalls),
    /** Throws `StoreFull` when a statement could be cut off halfway. */
    check(): void {
      const now = performance.now();
      if (now - checkedAt < CHECKED_EVERY_MS) return;
      checkedAt = now;
      const why = lacking(NEEDED.forStatements);
      if (why !== null) throw new StoreFull(why);
    },
  };
}

/** Undefined when the folder is away: the store itself says so. */
function freeBytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

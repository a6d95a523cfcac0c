import { statfsSync } from 'node:fs';
import { StoreTakesNoWrites } from '../redis-connections.ts';

const MIB = 1024 * 1024;
/**
 * PostgreSQL that cannot write its log ends. So it gets no statement while less than the last is left on the disk; between the two
 * no new call is taken, and what is open comes to its end.
 */
const NEEDED = { forCalls: 64 * MIB, forStatements: 32 * MIB };

/** The disk of the store is full. The statement was not sent, so nothing was done. */
class StoreFull extends StoreTakesNoWrites {
  readonly code = 'ENOSPC';
}

export type Room = ReturnType<typeof createRoom>;

/** How much room the disk of a folder has. */
export function createRoom(folder: string) {
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

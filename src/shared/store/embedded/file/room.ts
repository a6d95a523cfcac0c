import { statfsSync } from 'node:fs';
import { causeOf, type Fault, fault } from '../../../reasons/causes.ts';
import { StoreTakesNoWrites } from '../../redis/redis-connections.ts';

const MIB = 1024 * 1024;
/** Below the first no new call is accepted, and open ones end. Below the second nothing is written, so that a checkpoint still fits. */
const NEEDED = { forCalls: 64 * MIB, forStatements: 32 * MIB };

/** Claims and requests lie on this disk, too. One without free inodes takes none. */
const FILES_NEEDED = { forCalls: 64, forStatements: 8 };

/** Not at each write: what is written meanwhile is far less than the reserve. */
const CHECKED_EVERY_MS = 100;

/** The disk of the store is full. The statement was not executed. */
class StoreFull extends StoreTakesNoWrites {
  readonly code = 'ENOSPC';
}

export type Room = ReturnType<typeof createRoom>;

/** How much room the disk of a folder has: bytes, and files (inodes). */
export function createRoom(folder: string) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let free: Free | undefined;
  function lacking(what: keyof typeof NEEDED): Fault | null {
    const now = performance.now();
    if (now - checkedAt >= CHECKED_EVERY_MS) {
      checkedAt = now;
      free = freeIn(folder);
    }
    if (free === undefined) return null;
    if (free.bytes < NEEDED[what])
      return fault('disk-of-store-full', { left: Math.floor(free.bytes / MIB), needed: NEEDED.forCalls / MIB });
    if (free.files < FILES_NEEDED[what])
      return fault('disk-of-store-without-files', { left: free.files, needed: FILES_NEEDED.forCalls });
    return null;
  }
  return {
    /** Why no new call is accepted, or null. */
    full: (): Fault | null => lacking('forCalls'),
    /** Throws `StoreFull` if a write could fail halfway. */
    check(): void {
      const why = lacking('forStatements');
      if (why !== null) throw new StoreFull(causeOf(why));
    },
  };
}

type Free = { bytes: number; files: number };

/** Undefined if the folder is missing, which the store itself reports. btrfs creates inodes on demand and reports 0 of 0. */
function freeIn(folder: string): Free | undefined {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree };
  } catch {
    return undefined;
  }
}

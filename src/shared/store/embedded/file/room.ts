import { statfsSync } from 'node:fs';
import { StoreTakesNoWrites } from '../../redis/redis-connections.ts';

const MIB = 1024 * 1024;
/**
 * Below the first no new call is taken, and what is open comes to its end. Below the second nothing is written, so that the log keeps
 * room for a checkpoint.
 */
const NEEDED = { forCalls: 64 * MIB, forStatements: 32 * MIB };

/** Claims and requests lie on this disk, too. One without free inodes takes none. */
const FILES_NEEDED = { forCalls: 64, forStatements: 8 };

/** Not at each call or transaction: what is written meanwhile is far less than what is left. */
const CHECKED_EVERY_MS = 100;

/** The disk of the store is full. The statement was not sent, so nothing was done. */
class StoreFull extends StoreTakesNoWrites {
  readonly code = 'ENOSPC';
}

export type Room = ReturnType<typeof createRoom>;

/** How much room the disk of a folder has: bytes, and files (inodes). */
export function createRoom(folder: string) {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let free: Free | undefined;
  function lacking(what: keyof typeof NEEDED): string | null {
    const now = performance.now();
    if (now - checkedAt >= CHECKED_EVERY_MS) {
      checkedAt = now;
      free = freeIn(folder);
    }
    if (free === undefined) return null;
    const room = `the disk of SHARED_DIR is full:`;
    if (free.bytes < NEEDED[what])
      return `${room} ${Math.floor(free.bytes / MIB)} MB are left, and ${NEEDED.forCalls / MIB} are needed; make room there`;
    if (free.files < FILES_NEEDED[what])
      return `${room} it has room for ${free.files} more files (inodes), and ${FILES_NEEDED.forCalls} are needed; remove files there`;
    return null;
  }
  return {
    /** The reason why no new call is taken; null when there is room for it. */
    full: (): string | null => lacking('forCalls'),
    /** Throws `StoreFull` when a statement could be cut off halfway. */
    check(): void {
      const why = lacking('forStatements');
      if (why !== null) throw new StoreFull(why);
    },
  };
}

type Free = { bytes: number; files: number };

/** Undefined when the folder is away: the store itself says so. Some file systems (btrfs) make inodes as they need them, and say 0 of 0. */
function freeIn(folder: string): Free | undefined {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree };
  } catch {
    return undefined;
  }
}

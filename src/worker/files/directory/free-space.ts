import { join } from 'node:path';
import { usedUp } from '../../../shared/runtime/disk-space.ts';
import { unless } from '../../../shared/runtime/errno.ts';
import { processName } from '../../../shared/seams/process.ts';
import { time } from '../../../shared/seams/time.ts';
import { privateDirectory } from '../file-names.ts';
import { isFull, whyUnwritable } from '../reasons.ts';
import { rm, statfs, writeFile } from '../seams/files.ts';
import { notUsable } from './directory-identity.ts';

/** Where clients write; each may be a mount of its own. */
const WRITTEN_BY_CLIENTS = ['', 'clients', 'mock'];

/**
 * Whether files can be made in the shared directory. A full disk is full for every worker and every client, so workers go on taking
 * jobs: their callers are told at once, and all goes on as soon as there is room.
 */
export function createFreeSpace(sharedDir: string) {
  let full: { why: string; seenAt: number; isNow: boolean } | undefined;
  return {
    async look(): Promise<void> {
      const why = (await sayNumbers(sharedDir)) ?? (await tryNewFile(sharedDir));
      if (why !== null) full = { why, seenAt: time.monotonic(), isNow: true };
      else if (full) full.isNow = false;
    },
    /** Why no file can be made, as of the last look, or as of any within `lately` ms. */
    whyFull: (lately = 0): string | null =>
      full && (full.isNow || time.monotonic() - full.seenAt < lately) ? full.why : null,
  };
}

/** Root may fill what other users no longer can: only the numbers tell. */
async function sayNumbers(sharedDir: string): Promise<string | null> {
  for (const name of WRITTEN_BY_CLIENTS) {
    const found = await statfs(join(sharedDir, name)).catch(unless('ENOENT')).catch(notUsable);
    const left = found && usedUp(found);
    if (left) return `${join('SHARED_DIR', name)} is full: no ${left} are left`;
  }
  return null;
}

/** Of a quota only a new file tells: an old one has its room already. */
async function tryNewFile(sharedDir: string): Promise<string | null> {
  const path = join(privateDirectory(sharedDir), `.room-${processName()}`);
  try {
    await writeFile(path, '0', { flag: 'wx' }).catch(unless('EEXIST'));
    return null;
  } catch (error) {
    return isFull(error) ? `SHARED_DIR is full: ${whyUnwritable(error)}` : null;
  } finally {
    await rm(path, { force: true }).catch(() => {});
  }
}

import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../shared/errno.ts';
import type { Logger } from '../shared/logger.ts';
import { CLAIM_KEPT_MS, type Claims } from './channel/claim.ts';
import { isOurFile, MADE_BY_US, readFileName } from './channel/file-names.ts';
import { removeIfNobodyCame } from './channel/request-file.ts';
import type { SharedDirectory } from './channel/shared-directory.ts';

type Dependencies = {
  sharedDirectory: SharedDirectory;
  claims: Claims;
  /** Epoch ms; another one than the system's is for tests. */
  clock?: () => number;
  /** Told of each result that lies there, and says whether somebody looks out for it; otherwise it goes once it is old. */
  onResult?: (mockId: string) => Promise<boolean>;
  onSwept?: (what: 'files' | 'claim-minutes', count: number) => void;
  log: Logger;
};

/** Removes what executions left that nobody finished: files of ours older than a claim can be, then the claims themselves. */
export function createSweep({
  sharedDirectory,
  claims,
  clock = Date.now,
  onResult = async () => false,
  onSwept = () => {},
  log,
}: Dependencies) {
  return async function sweep(): Promise<void> {
    const madeBefore = clock() + (await sharedDirectory.clockAheadMs()) - CLAIM_KEPT_MS;
    let removed = 0;
    const mock = join(sharedDirectory.sharedDir, 'mock');
    for (const app of await directories(mock)) {
      for (const client of await directories(join(mock, app))) {
        removed += await sweepDirectory(join(mock, app, client), { madeBefore, onResult });
      }
    }
    const claimMinutes = await claims.sweep(clock());
    onSwept('files', removed);
    onSwept('claim-minutes', claimMinutes);
    if (removed > 0) log.info({ removed, claimMinutes }, 'swept files that nobody waits for any more');
  };
}

type Sweeping = { madeBefore: number; onResult: (mockId: string) => Promise<boolean> };

async function sweepDirectory(directory: string, { madeBefore, onResult }: Sweeping): Promise<number> {
  const names = (await readdir(directory).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  const isOld = async (name: string) => {
    const stats = await lstat(join(directory, name)).catch(unless('ENOENT'));
    // A client may give its files any mtime, but no ctime.
    return stats !== undefined && Math.max(stats.mtimeMs, stats.ctimeMs) < madeBefore;
  };
  let removed = 0;
  for (const name of names.filter(isOurFile)) {
    const file = readFileName(name);
    const isAwaited = file?.kind === 'result' && (await onResult(file.mockId));
    if (isAwaited || !(await isOld(name))) continue;
    await rm(join(directory, name), { recursive: true, force: true });
    removed++;
  }
  if (names.includes(MADE_BY_US) && (await isOld(MADE_BY_US))) await removeIfNobodyCame(directory);
  return removed;
}

async function directories(path: string): Promise<string[]> {
  const found = (await readdir(path, { withFileTypes: true }).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  return found.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

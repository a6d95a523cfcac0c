import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../shared/errno.ts';
import type { Logger } from '../shared/logger.ts';
import { CLAIM_KEPT_MS, type Claims } from './channel/claim.ts';
import { isOurFile } from './channel/file-names.ts';
import type { SharedDirectory } from './channel/shared-directory.ts';

type Dependencies = { sharedDirectory: SharedDirectory; claims: Claims; log: Logger };

/** Removes what executions left that nobody finished: files of ours older than a claim can be, then the claims themselves. */
export function createSweep({ sharedDirectory, claims, log }: Dependencies) {
  return async function sweep(): Promise<void> {
    const now = Date.now() + (await sharedDirectory.clockAheadMs());
    let removed = 0;
    const mock = join(sharedDirectory.sharedDir, 'mock');
    for (const app of await directories(mock)) {
      for (const client of await directories(join(mock, app)))
        removed += await sweepDirectory(join(mock, app, client), now);
    }
    const claimMinutes = await claims.sweep(Date.now());
    if (removed > 0) log.info({ removed, claimMinutes }, 'swept files that nobody waits for any more');
  };
}

async function sweepDirectory(directory: string, now: number): Promise<number> {
  const names = (await readdir(directory).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  let removed = 0;
  for (const name of names.filter(isOurFile)) {
    const path = join(directory, name);
    const stats = await lstat(path).catch(unless('ENOENT'));
    if (!stats || now - stats.mtimeMs < CLAIM_KEPT_MS) continue;
    await rm(path, { recursive: true, force: true });
    removed++;
  }
  return removed;
}

async function directories(path: string): Promise<string[]> {
  const found = (await readdir(path, { withFileTypes: true }).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
  return found.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

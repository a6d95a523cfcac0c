import { join } from 'node:path';
import { time } from '../../shared/ports/time.ts';
import { unless } from '../../shared/runtime/errno.ts';
import type { Clients } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import { isRealDirectory } from '../files/client-directory.ts';
import { directoryOfClient } from '../files/file-names.ts';
import { readdir, rmdir } from '../files/ports/files.ts';

const GONE_FOR_MS = 24 * 60 * 60_000;

type Parts = { sharedDir: string; clients: Clients; pickUps: Pick<PickUps, 'removeGone'> };

/**
 * Removes the empty directories of registered clients without a heartbeat for a day. A client that was killed has another address
 * when it starts again, so its old directory stays unused for good. A directory with anything in it stays.
 */
export function createSweepGoneClients({ sharedDir, clients, pickUps }: Parts) {
  return async function sweepGoneClients(): Promise<number> {
    let removed = 0;
    const names = (await readdir(join(sharedDir, 'clients')).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
    for (const app of names.filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number)) {
      const all = await clients.list(app).catch(() => []);
      const gone = all.filter(({ online, beatAt }) => !online && beatAt > 0 && time.now() - beatAt > GONE_FOR_MS);
      for (const { directoryName } of gone) {
        const directory = directoryOfClient(sharedDir, { app, directoryName });
        if (!(await isRealDirectory(sharedDir, directory).catch(() => false))) continue;
        removed += await rmdir(directory).then(
          () => 1,
          () => 0, // not empty, or already removed
        );
      }
    }
    await pickUps.removeGone((app) => clients.list(app));
    return removed;
  };
}

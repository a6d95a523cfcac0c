import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { clientsDirectory, registrationPath } from '../files/file-names.ts';

/** Whether a client has a registration, on the trunk or in any lane; true when that cannot be told. */
export async function findRegistration(
  sharedDir: string,
  client: { app: number; directoryName: string },
): Promise<boolean> {
  const lanesPath = join(clientsDirectory(sharedDir, client.app), 'lane');
  try {
    const lanes = (await readdir(lanesPath).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
    for (const lane of [null, ...lanes]) {
      if (await isThere(registrationPath(sharedDir, { ...client, lane }))) return true;
    }
    return false;
  } catch {
    return true;
  }
}

/** Whether a registration is there. If it cannot be looked at, it counts as there. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(errnoOf(error)),
  );
}

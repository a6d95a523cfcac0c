import { join } from 'node:path';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { clientsDirectory, registrationPath } from './file-names.ts';
import { lstat } from './file-system.ts';
import { readdir } from './ports/files.ts';

/** Whether a registration is there. If it cannot be looked at, it counts as there. */
export function isRegistered(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(errnoOf(error)),
  );
}

/** Whether a client has a registration, on the trunk or in any lane; true when that cannot be told. */
export async function findRegistration(
  sharedDir: string,
  client: { app: number; directoryName: string },
): Promise<boolean> {
  const lanesPath = join(clientsDirectory(sharedDir, client.app), 'lane');
  try {
    const lanes = (await readdir(lanesPath).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
    for (const lane of [null, ...lanes]) {
      if (await isRegistered(registrationPath(sharedDir, { ...client, lane }))) return true;
    }
    return false;
  } catch {
    return true;
  }
}

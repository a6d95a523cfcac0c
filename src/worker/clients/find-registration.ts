import { join } from 'node:path';
import { unless } from '../../shared/runtime/errno.ts';
import { clientsDirectory, registrationPath } from '../files/file-names.ts';
import { isRegistered } from '../files/registration-file.ts';
import { readdir } from '../seams/files.ts';

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

import { resolve } from 'node:path';
import { unusablePath } from '../../shared/runtime/settings/setting-kinds.ts';
import { DEFAULT_SHARED_DIR } from '../../shared/runtime/settings/settings.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

/** The directory that a service shares: that of `--shared-dir`, else that of this environment. */
export function sharedDirOf(given: string | undefined, { environment }: Pick<Surroundings, 'environment'>): string {
  const path = given ?? environment.SHARED_DIR ?? DEFAULT_SHARED_DIR;
  const why = unusablePath(path);
  if (why !== undefined)
    throw new CommandFailed(`${given === undefined ? 'SHARED_DIR' : '--shared-dir'} ${why}.`, exitCodes.usage);
  return resolve(path);
}

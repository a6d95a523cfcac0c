import { lstat } from 'node:fs/promises';
import { errnoOf } from '../../shared/runtime/errno.ts';

/** Whether a registration is there. If it cannot be looked at, it counts as there. */
export function isRegistered(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(errnoOf(error)),
  );
}

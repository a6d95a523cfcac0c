import { dirname } from 'node:path';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { lstat } from '../seams/files.ts';
import { inDirectory } from './directory-limit.ts';

/** Whether a registration is there. If it cannot be looked at, it counts as there. */
export function isRegistered(path: string): Promise<boolean> {
  return inDirectory(dirname(path), () => lstat(path)).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(errnoOf(error)),
  );
}

import { basename } from 'node:path';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { filesAt } from '../file-system.ts';
import { readFile, readlink, writeFile } from '../seams/files.ts';
import { UncertainClaim } from './claim.ts';

/** No symbolic links on this file system, or none of that length. */
const CANNOT_LINK = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENAMETOOLONG', 'EINVAL']);

/** The file may be there although writing it failed: the file server's reply got lost, or another worker was first. */
const PROVES_NOTHING = new Set(['EPERM', 'EIO', 'ESTALE', 'ENOTCONN', 'ETIMEDOUT']);

/** True when this text is the first. */
export async function writeClaim(path: string, text: string): Promise<boolean> {
  try {
    await filesAt(path).symlink(text, path);
    return true;
  } catch (error) {
    const isFirst = await isFirstAfter(error, path, text);
    if (isFirst !== undefined) return isFirst;
    if (!CANNOT_LINK.has(errnoOf(error))) throw uncertain(path, error);
    return await writeExclusively(path, text);
  }
}

/** The first to create the file wins. A worker that reads it before its text is there finds a claim it cannot read. */
async function writeExclusively(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    const isFirst = await isFirstAfter(error, path, text);
    if (isFirst === undefined) throw uncertain(path, error);
    return isFirst;
  }
}

/** Whether this text is the first although writing it failed; undefined when nothing is there. Other failures are thrown. */
async function isFirstAfter(error: unknown, path: string, text: string): Promise<boolean | undefined> {
  const code = errnoOf(error);
  if (code === 'EEXIST') return false;
  if (!PROVES_NOTHING.has(code)) {
    if (CANNOT_LINK.has(code)) return undefined;
    throw error;
  }
  const found = await readClaim(path).catch(uncertainAt(path));
  return found === undefined ? undefined : found === text;
}

function uncertain(path: string, cause: unknown): UncertainClaim {
  return new UncertainClaim(`whether ${basename(path)} was claimed is not known (${errnoOf(cause)})`, { cause });
}

export const uncertainAt = (path: string) => (cause: unknown) => {
  throw uncertain(path, cause);
};

export async function readClaim(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errnoOf(error) === 'EINVAL') return readFile(path); // a file: written where links are missing
    return unless('ENOENT')(error);
  }
}

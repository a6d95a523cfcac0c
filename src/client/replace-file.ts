import { randomBytes } from 'node:crypto';
import { link, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../shared/runtime/errno.ts';

/** Readers take nothing that does not end in .json, and several clients may write the same file at once. */
const draftOf = (path: string) => join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.tmp`);

/** Puts a whole file in place: readers see the old one or the new one, never half of either. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, text);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw error;
  }
}

/** Puts a whole file in place unless there is one: false when there is. Of two that try at once, one succeeds. */
export async function placeFile(path: string, text: string): Promise<boolean> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, text);
    await link(draft, path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    // Some network file systems have no links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(errnoOf(error))) throw error;
    return writeFile(path, text, { flag: 'wx' }).then(
      () => true,
      (failure) => {
        if (errnoOf(failure) === 'EEXIST') return false;
        throw failure;
      },
    );
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

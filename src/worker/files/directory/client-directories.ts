import { dirname, join } from 'node:path';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { time } from '../../../shared/seams/time.ts';
import { MADE_BY_US, mockDirectory } from '../file-names.ts';
import { chmod, mkdir, realpath, rmdir, stat, writeFile } from '../seams/files.ts';
import { limitedByDirectory } from './directory-limit.ts';
import { throughHandle } from './real-directory.ts';

/** A client's directory that was looked at is taken to be still there, and still no link, for this long. */
const CHECKED_FOR_MS = 500;
const MAX_CHECKED = 10_000;
/** Other servers remove empty directories, also one that was made this moment: then it is made again. */
const MAKE_AT_MOST = 5;

/** Something in the way of a path below the shared directory: a link, a file where a directory belongs. */
export class ForeignPath extends Error {}

/** A directory that a worker cannot give to the group of its app, because the worker's user is not in that group. */
export class OutsideOfGroup extends Error {}

/** The directories of clients below the shared one: found, or made. */
export function createClientDirectories(sharedDir: string) {
  const checked = new Map<string, number>();

  /** Looks at a directory. While it looks, other calls rely on the previous look, if there was one. */
  async function look(path: string): Promise<boolean> {
    const startedAt = time.now();
    if (checked.has(path)) checked.set(path, startedAt);
    const isReal = await isRealDirectory(sharedDir, path).catch((error) => {
      checked.delete(path);
      throw error;
    });
    if (checked.size >= MAX_CHECKED) checked.clear();
    if (isReal) checked.set(path, startedAt);
    else checked.delete(path);
    return isReal;
  }

  return {
    /** Something was missing in a directory that was there a moment ago: look again the next time. */
    forget: (path: string) => void checked.delete(path),

    /**
     * The mock directory of a client, made when it is missing. Throws `ForeignPath` when a link stands anywhere below the
     * shared directory: nothing outside may be written through a request.
     */
    async clientDirectory(app: number, directoryName: string, { mark = false } = {}): Promise<string> {
      const path = join(mockDirectory(sharedDir, app), directoryName);
      if (time.now() - (checked.get(path) ?? 0) < CHECKED_FOR_MS || (await look(path))) return path;
      for (let attempt = 0; attempt < MAKE_AT_MOST; attempt++) {
        await makeDirectory(dirname(dirname(path)), { isOpen: false });
        await makeDirectory(dirname(path));
        const made = await makeDirectory(path);
        if (made && mark)
          await throughHandle(path, (real) =>
            limitedByDirectory(real, () => writeFile(join(real, MADE_BY_US), '')),
          ).catch(unless('ENOENT'));
        if (await isRealDirectory(sharedDir, path)) return path;
      }
      throw new ForeignPath(`${path} is not a directory of its own`);
    },
  };
}

/** Clients run under other users: what we make is as open as the directory it is in (`mock/`, or the app's), whatever the umask says. */
async function makeDirectory(path: string, { isOpen = true } = {}): Promise<boolean> {
  try {
    await limitedByDirectory(dirname(path), () => mkdir(path));
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  if (!isOpen) return true;
  const wanted = (await stat(dirname(path))).mode & 0o7777;
  const modeOf = async (real: string) => (await stat(`${real}/.`)).mode & 0o7777;
  const widen = async (real: string) => {
    if ((await modeOf(real)) === wanted) return;
    await chmod(`${real}/.`, wanted);
    // chmod(2): of a user outside of the directory's group it takes the bit by which what is in it gets that group.
    if ((await modeOf(real)) === wanted) return;
    await rmdir(path);
    throw new OutsideOfGroup(`${dirname(path)} has a group in which this worker is not`);
  };
  await throughHandle(path, (real) => limitedByDirectory(real, () => widen(real))).catch(unless('ENOENT'));
  return true;
}

/** Whether a path exists as a directory reached without a link below the shared directory. */
export async function isRealDirectory(sharedDir: string, path: string): Promise<boolean> {
  const root = await realpath(sharedDir);
  return limitedByDirectory(path, async () => {
    const real = await realpath(path).catch(unless('ENOENT', 'ENOTDIR', 'ELOOP'));
    if (real === undefined) return false;
    if (real !== join(root, path.slice(sharedDir.length))) throw new ForeignPath(`${path} leads elsewhere, to ${real}`);
    return (await stat(real).catch(unless('ENOENT')))?.isDirectory() ?? false;
  });
}

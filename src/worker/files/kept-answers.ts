import { join } from 'node:path';
import { random } from '../../shared/ports/process.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { privateDirectory } from './file-names.ts';
import { mkdir, readdir, rename, rm, stat } from './ports/files.ts';
import type { FileClock } from './shared-directory.ts';

const FOLDER_MS = 10_000;
const FOLDERS_KEPT = 3;
const REMOVED = '.removed';

export type KeptAnswers = ReturnType<typeof createKeptAnswers>;

/**
 * Answers, for 30 to 50 s after their job was completed. A queue store that loses its data, or fails over to a replica that lacks its last
 * moments, forgets completions that no API has heard of: whoever takes the execution up again finds the answer here. They lie in a folder for
 * each 10 s of the file system's time, which is the same for all workers, and out of the client's sight.
 */
export function createKeptAnswers(sharedDir: string, clock: Pick<FileClock, 'now'>) {
  const root = join(privateDirectory(sharedDir), 'answers');
  const folderNow = () => Math.floor(clock.now() / FOLDER_MS);
  let made: number | undefined;

  return {
    /** Where an answer is put now. Makes its folder: the first time, and `again` where it was removed. */
    async pathFor(mockId: string, { again = false } = {}): Promise<string> {
      const folder = folderNow();
      if (again || made !== folder)
        // Not recursive: what is above must be there, or this is not the directory that was checked.
        for (const path of [root, `${root}/${folder}`]) await mkdir(path).catch(unless('EEXIST'));
      made = folder;
      return `${root}/${folder}/${mockId}`;
    },

    /** The folders where the answer of an execution may lie, newest first; another worker may be a little ahead. */
    folders(): string[] {
      return Array.from({ length: FOLDERS_KEPT + 2 }, (_, age) => `${root}/${folderNow() + 1 - age}`);
    },

    /** Removes what is older, by name and by mtime. `now`: the time by the file system. To be called every few seconds. */
    async sweep(now: number): Promise<void> {
      for (const name of (await readdir(root).catch(unless('ENOENT'))) ?? []) {
        if (name.endsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true });
        else if (/^\d+$/.test(name) && (await isOld(Number(name), now))) await removeFolder(name);
      }
    },
  };

  async function isOld(folder: number, now: number): Promise<boolean> {
    if (folder >= Math.floor(now / FOLDER_MS) - FOLDERS_KEPT) return false;
    const found = await stat(`${root}/${folder}`).catch(unless('ENOENT'));
    return found !== undefined && now - found.mtimeMs > FOLDERS_KEPT * FOLDER_MS;
  }

  /** Moved away first: an answer that is put in meanwhile would go with the others. */
  async function removeFolder(name: string): Promise<void> {
    const away = join(root, `${name}.${random.uuid()}${REMOVED}`);
    await rename(join(root, name), away).catch(unless('ENOENT')); // another worker was faster
    await rm(away, { recursive: true, force: true });
  }
}

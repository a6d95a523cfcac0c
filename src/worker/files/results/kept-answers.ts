import { join } from 'node:path';
import { random } from '../../../shared/ports/random.ts';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { directoryAt } from '../client-directory.ts';
import { type ExecutionFiles, removeAnswer } from '../execution-files.ts';
import type { FileClock } from '../file-clock.ts';
import { privateDirectory, resultFileName } from '../file-names.ts';
import { mkdir, readdir, rename, rm, stat } from '../ports/files.ts';

const BUCKET_MS = 10_000;
const BUCKETS_KEPT = 3;
const REMOVED = '.removed';

export type KeptAnswers = ReturnType<typeof createKeptAnswers>;

/**
 * Answers, for 30 to 50 s after their job was completed. A queue store that loses its data also forgets what it was told
 * last: an API that had not heard of it yet adds the execution again, and whoever takes it up finds the answer here. They
 * are in a folder per 10 s of the file system's time, which is the same for all workers, and out of the client's sight.
 */
export function createKeptAnswers(sharedDir: string, clock: FileClock) {
  const root = join(privateDirectory(sharedDir), 'answers');
  const folderOf = (bucket: number) => join(root, String(bucket));
  const bucketNow = () => Math.floor(clock.now() / BUCKET_MS);
  let made: number | undefined;

  return {
    /** Takes an answer out of the client's directory. One that cannot be kept is removed. */
    async keep(files: ExecutionFiles): Promise<void> {
      const bucket = bucketNow();
      try {
        if (made !== bucket) await makeFolder(folderOf(bucket));
        made = bucket;
        const to = join(folderOf(bucket), files.mockId);
        await directoryAt(files.directory).moveTo(resultFileName(files.mockId), to);
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') made = undefined; // the folder, or the answer
        await removeAnswer(files);
      }
    },

    /** The paths where the answer of an execution may lie, newest first; another worker may be a little ahead. */
    pathsOf(mockId: string): string[] {
      const newest = bucketNow() + 1;
      return Array.from({ length: BUCKETS_KEPT + 2 }, (_, age) => join(folderOf(newest - age), mockId));
    },

    /** Removes what is older, by name and by mtime. `now`: the time by the file system. To be called every few seconds. */
    async sweep(now: number): Promise<void> {
      for (const name of (await readdir(root).catch(unless('ENOENT'))) ?? []) {
        if (name.endsWith(REMOVED)) await rm(join(root, name), { recursive: true, force: true });
        else if (/^\d+$/.test(name) && (await isOld(Number(name), now))) await removeFolder(name);
      }
    },
  };

  async function isOld(bucket: number, now: number): Promise<boolean> {
    if (bucket >= Math.floor(now / BUCKET_MS) - BUCKETS_KEPT) return false;
    const found = await stat(folderOf(bucket)).catch(unless('ENOENT'));
    return found !== undefined && now - found.mtimeMs > BUCKETS_KEPT * BUCKET_MS;
  }

  /** Moved away first: an answer that is put in meanwhile would go with the others. */
  async function removeFolder(name: string): Promise<void> {
    const away = join(root, `${name}.${random.uuid()}${REMOVED}`);
    await rename(join(root, name), away).catch(unless('ENOENT')); // another worker was faster
    await rm(away, { recursive: true, force: true });
  }

  /** Not recursive: what is above must be there, or this is not the directory that was checked. */
  async function makeFolder(path: string): Promise<void> {
    await mkdir(root).catch(unless('EEXIST'));
    await mkdir(path).catch(unless('EEXIST'));
  }
}

import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { privateDirectory } from './file-names.ts';
import { rename } from './quick-files.ts';
import { type Place, removeAnswer, resultPath } from './request-file.ts';

const BUCKET_MS = 10_000;
const BUCKETS_KEPT = 3;

export type KeptAnswers = ReturnType<typeof createKeptAnswers>;

/**
 * Answers, for 20 to 30 s after their job was completed. A queue store that loses its data also forgets what it was told
 * last: an API that had not heard of it yet adds the execution again, and whoever takes it up finds the answer here. They
 * lie in a folder per 10 s, so that a whole one is removed at once, and out of the client's sight.
 */
export function createKeptAnswers(sharedDir: string) {
  const root = join(privateDirectory(sharedDir), 'answers');
  const folderOf = (bucket: number) => join(root, String(bucket));
  const bucketNow = () => Math.floor(Date.now() / BUCKET_MS);
  let made: number | undefined;

  return {
    /** Takes an answer out of the client's directory. One that cannot be kept is removed. */
    async keep(place: Place): Promise<void> {
      const bucket = bucketNow();
      try {
        if (made !== bucket) await makeFolder(folderOf(bucket));
        made = bucket;
        await rename(resultPath(place), join(folderOf(bucket), place.mockId));
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') made = undefined; // the folder, or the answer
        await removeAnswer(place);
      }
    },

    /** Where the answer of an execution may lie, newest first; another worker's clock may be a little ahead. */
    placesOf(mockId: string): string[] {
      const newest = bucketNow() + 1;
      return Array.from({ length: BUCKETS_KEPT + 2 }, (_, age) => join(folderOf(newest - age), mockId));
    },

    /** Removes what is older. To be called every few seconds. */
    async sweep(now = Date.now()): Promise<void> {
      const oldest = Math.floor(now / BUCKET_MS) - BUCKETS_KEPT;
      for (const name of (await readdir(root).catch(unless('ENOENT'))) ?? []) {
        if (/^\d+$/.test(name) && Number(name) < oldest)
          await rm(folderOf(Number(name)), { recursive: true, force: true });
      }
    },
  };

  /** Not recursive: what is above must be there, or this is not the directory that was checked. */
  async function makeFolder(path: string): Promise<void> {
    await mkdir(root).catch(unless('EEXIST'));
    await mkdir(path).catch(unless('EEXIST'));
  }
}

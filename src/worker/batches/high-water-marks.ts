import { join } from 'node:path';
import { time } from '../../shared/ports/time.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { privateDirectory } from '../files/file-names.ts';
import { mkdir, readdir, readFile, rm, stat, writeFile } from '../files/ports/files.ts';

/**
 * The high-water mark of a target: up to which case (not included) items may have been sent, and from when until when, epoch ms. `run`: the run of
 * the queue store (`StoreRun`) that got each of them; empty when that is not known.
 */
export type HighWaterMark = { upTo: number; at: number; until: number; run: string };

/** A mark covers so many items. */
const STEP = 100;
/** No item is sent under an older mark, so that a reader knows when the last item can have been sent. */
export const MARK_MS = 5000;
const FORM = /^(\d+)\.(\d+)\.(\d+)$/;

/**
 * Up to where items of a batch may have been sent. A mark is a file beside the claims, so it survives a queue store that loses its data. Marks
 * are only added: a suspended worker cannot take back what another one has marked meanwhile.
 */
export function createHighWaterMarks(sharedDir: string) {
  const root = join(privateDirectory(sharedDir), 'batches');
  const folderOf = (batchId: string) => join(root, batchId);

  return {
    /** The marks of one target, the first one first. */
    async read(batchId: string, targetIndex: number): Promise<HighWaterMark[]> {
      const names = (await readdir(folderOf(batchId)).catch(unless('ENOENT'))) ?? [];
      const ofTarget = names.filter((name) => Number(FORM.exec(name)?.[1]) === targetIndex);
      const marks = await Promise.all(ofTarget.map((name) => readHighWaterMark(join(folderOf(batchId), name), name)));
      return marks.sort((a, b) => a.at - b.at);
    },

    /**
     * Raises the mark over the case `index`, and some that follow, not before `from` (epoch ms). Nothing may be sent before this has
     * resolved.
     */
    async raise(
      batchId: string,
      targetIndex: number,
      { index, run, from = 0 }: { index: number; run: string; from?: number },
    ): Promise<HighWaterMark> {
      const at = Math.max(time.now(), from);
      const upTo = (Math.floor(index / STEP) + 1) * STEP;
      await mkdir(root).catch(unless('EEXIST')); // not recursive: a missing parent means that this is not the shared directory
      await mkdir(folderOf(batchId)).catch(unless('EEXIST'));
      const path = join(folderOf(batchId), `${targetIndex}.${upTo}.${at}`);
      await writeFile(path, run, { flag: 'wx' }).catch(unless('EEXIST'));
      return { upTo, at, until: at + MARK_MS, run };
    },

    /** Forgets a batch that is over. */
    remove: (batchId: string) => rm(folderOf(batchId), { recursive: true, force: true }),

    /** Forgets the batches without a mark for `olderThanMs`. */
    async sweep(olderThanMs: number): Promise<void> {
      for (const batchId of (await readdir(root).catch(unless('ENOENT'))) ?? []) {
        const found = await stat(folderOf(batchId)).catch((error) =>
          errnoOf(error) === 'ENOENT' ? null : Promise.reject(error),
        );
        if (found && found.mtimeMs + olderThanMs < time.now())
          await rm(folderOf(batchId), { recursive: true, force: true });
      }
    },
  };
}
export type HighWaterMarks = ReturnType<typeof createHighWaterMarks>;

async function readHighWaterMark(path: string, name: string): Promise<HighWaterMark> {
  const [, , upTo, at] = FORM.exec(name) ?? [];
  const run = (await readFile(path).catch(unless('ENOENT'))) ?? '';
  return { upTo: Number(upTo), at: Number(at), until: Number(at) + MARK_MS, run };
}

import { constants } from 'node:fs';
import { join } from 'node:path';
import { processName } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { privateDirectory } from './file-names.ts';
import { mkdir, open } from './ports/files.ts';
import type { OpenFile } from './ports/operations.ts';

/** A link that was put here must not empty a file elsewhere, and a pipe must not make a worker wait. */
const TOUCH = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export type FileClock = ReturnType<typeof createFileClock>;

/**
 * The folder in which each worker has a file: its text is the time by the worker's clock, its mtime that of the file system's.
 */
const clocksDirectory = (sharedDir: string) => join(privateDirectory(sharedDir), 'clocks');

/**
 * The time by the shared directory's file system, which is the same for all workers, whatever their own clocks say. It is
 * read off a file that was just written; between two touches this process's monotonic clock carries it on.
 */
export function createFileClock(sharedDir: string) {
  const folder = clocksDirectory(sharedDir);
  const path = join(folder, processName().replace(/[^\w.-]/g, '_'));
  let last: { fileMs: number; at: number } | undefined;
  let uid: number | undefined;

  const now = () => (last ? last.fileMs + time.monotonic() - last.at : time.now());

  async function openFile(): Promise<OpenFile> {
    try {
      return await open(path, TOUCH, 0o644);
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
      await mkdir(folder).catch(unless('EEXIST'));
      return open(path, TOUCH, 0o644);
    }
  }

  return {
    /** Epoch ms by the file system's clock, as of the last touch; by this process's clock before the first. */
    now,

    /** The user of this process as the file system knows it; undefined before the first touch. */
    ownUid: () => uid,

    /** How far the file system's clock is ahead of this process's, in ms. */
    aheadMs: () => now() - time.now(),

    /**
     * Whether a time that another process set is over. Only when both clocks say so: a call is not refused because one of
     * them is wrong, and what must not happen twice does not depend on it.
     */
    isPast: (epochMs: number) => time.now() >= epochMs && now() >= epochMs,

    /** Writes the file, and resolves to the time by the file system. Throws when this process may not write there. */
    async touch(): Promise<number> {
      const file = await openFile();
      try {
        await file.write(String(time.now()));
        const stats = await file.stat();
        const fileMs = stats.mtimeMs;
        uid = stats.uid;
        last = { fileMs, at: time.monotonic() };
        return fileMs;
      } finally {
        await file.close();
      }
    },
  };
}

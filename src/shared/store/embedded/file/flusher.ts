import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Flushes a file to its disk in a thread, one flush at a time: whoever asks for more than the one that is under way covers waits for the next,
 * together with all others who asked meanwhile. A flush begins two turns of the event loop after it was asked for: what follows at once, as the taking of a job
 * that was just added, is flushed with it.
 */
export function createFlusher(path: string) {
  const handle = openSync(path, 'r');
  flushAtOnce(dirname(path));
  /** A flush that is about to begin, or what the one that is under way covers. */
  let underWay: { commits: number; ended: Promise<void> } | 'soon' | undefined;
  let next: PromiseWithResolvers<void> | undefined;
  /** The commits that are flushed, and those that the next flush is asked for. */
  let [sure, wanted] = [0, 0];
  let isClosed = false;

  function begin(): void {
    if (underWay || !next) return;
    underWay = 'soon';
    setImmediate(() => setImmediate(flush));
  }

  function flush(): void {
    const [waiting, commits] = [next, wanted];
    next = undefined;
    if (isClosed || !waiting) return;
    underWay = { commits, ended: waiting.promise };
    fdatasync(handle, (error) => {
      underWay = undefined;
      if (error) waiting.reject(error);
      else {
        sure = commits;
        waiting.resolve();
      }
      begin();
    });
  }

  return {
    /** Resolves once the first so many commits, all that were written to the file so far, are on its disk. */
    async flushed(commits: number): Promise<void> {
      if (commits === sure) return;
      if (typeof underWay === 'object' && commits === underWay.commits) return underWay.ended;
      wanted = commits;
      next ??= Promise.withResolvers();
      const { promise } = next;
      promise.catch(() => {}); // whoever waits for it is told
      begin();
      await promise;
    },
    close(): void {
      isClosed = true;
      fdatasyncSync(handle);
      closeSync(handle);
      next?.resolve();
    },
  };
}

/** Flushes a file, or the names in a folder, and waits: a new file's name is kept by its folder. The event loop stands still meanwhile. */
export function flushAtOnce(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Flushes a file to its disk in a thread, one flush at a time: whoever asks while one is under way waits for the next, together with all
 * others who asked meanwhile. A flush begins two turns of the event loop after it was asked for: what follows at once, as the taking of a job
 * that was just added, is flushed with it.
 */
export function createFlusher(path: string) {
  const handle = openSync(path, 'r');
  flushFolder(dirname(path));
  let underWay = false;
  let next: PromiseWithResolvers<void> | undefined;
  /** The commits that are flushed, and those that the next flush is asked for. */
  let [sure, wanted] = [0, 0];
  let isClosed = false;

  function begin(): void {
    if (underWay || !next) return;
    underWay = true;
    setImmediate(() => setImmediate(flush));
  }

  function flush(): void {
    const [waiting, commits] = [next, wanted];
    next = undefined;
    if (isClosed) return;
    fdatasync(handle, (error) => {
      underWay = false;
      if (error) waiting?.reject(error);
      else {
        sure = commits;
        waiting?.resolve();
      }
      begin();
    });
  }

  return {
    /** Resolves once the first so many commits, all that were written to the file so far, are on its disk. */
    async flushed(commits: number): Promise<void> {
      if (commits === sure) return;
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

/** The name of a file or folder that is new is kept by the folder it is in. */
export function flushFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

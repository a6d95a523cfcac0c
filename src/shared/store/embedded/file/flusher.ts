import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Flushes a file in a thread, one flush at a time; requests that come during a flush share the next one. A flush starts two turns of the
 * event loop after its first request, so that what follows at once, such as the taking of a job that was just added, is part of it.
 */
export function createFlusher(path: string) {
  const handle = openSync(path, 'r');
  flushAtOnce(dirname(path));
  let underWay: { commits: number; ended: Promise<void> } | 'soon' | undefined;
  let next: PromiseWithResolvers<void> | undefined;
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
    /** Resolves once the first `commits` commits are on the disk. */
    async flushed(commits: number): Promise<void> {
      if (commits === sure) return;
      if (typeof underWay === 'object' && commits === underWay.commits) return underWay.ended;
      wanted = commits;
      next ??= Promise.withResolvers();
      const { promise } = next;
      promise.catch(() => {}); // its waiters get the error
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

/** Flushes a file or folder synchronously. A new file's name is durable only once its folder is flushed. */
export function flushAtOnce(path: string): void {
  const handle = openSync(path, 'r');
  fsyncSync(handle);
  closeSync(handle);
}

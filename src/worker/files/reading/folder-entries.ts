import { fileSystemOf } from '../file-system.ts';
import { opendir, readEntries } from '../ports/files.ts';
import type { Entry } from '../ports/operations.ts';

/**
 * The entries of a folder, one after the other, so that a folder full of files does not fill the memory. sshfs does not tell
 * what its entries are, and Node would look at each of them in the main thread; so over a network all of them are read first.
 */
export function entriesIn(path: string): Promise<AsyncIterable<Entry> | Iterable<Entry>> {
  return fileSystemOf(path).isLocal ? opendir(path) : readEntries(path);
}

import type { Dirent } from 'node:fs';
import { opendir, readdir } from 'node:fs/promises';
import { inDirectory } from '../files/directory-limit.ts';
import { filesLie } from '../files/quick-files.ts';

/**
 * The entries of a folder, one after the other, so that a folder full of files does not fill the memory. sshfs does not tell
 * what its entries are, and Node would look at each of them in the main thread; so over a network all of them are read first.
 */
export function entriesIn(path: string): Promise<AsyncIterable<Dirent> | Iterable<Dirent>> {
  return filesLie(path) === 'elsewhere'
    ? inDirectory(path, () => readdir(path, { withFileTypes: true }))
    : opendir(path, { bufferSize: 4096 });
}

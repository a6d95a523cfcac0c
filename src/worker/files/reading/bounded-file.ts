import { dirname } from 'node:path';
import { decodeWhole } from '../../../shared/contract/json/utf8.ts';
import { aLink, type Reading, readingOfError, unusable } from '../../../shared/rules/reading.ts';
import { limitedByDirectory } from '../directory/directory-limit.ts';
import { open as openQuickly, whereFilesAre } from '../quick-files.ts';
import { READ_SAFELY, readUpTo } from '../results/read-safely.ts';
import { open } from '../seams/files.ts';
import type { FileStats, OpenFile } from '../seams/operations.ts';

/**
 * The text of one regular file of at most `maxBytes` bytes. Links, directories, pipes and devices are `unusable`: nothing
 * is followed, and nothing can make the reader wait.
 */
export function readBoundedFile(path: string, maxBytes: number): Promise<Reading<string>> {
  return limitedByDirectory(dirname(path), () => read(path, maxBytes, open));
}

/** The same for small files of which there are very many: at once where the file system is quick. */
export function readSmallFile(path: string, maxBytes: number): Promise<Reading<string>> {
  return whereFilesAre(path) === 'elsewhere' ? readBoundedFile(path, maxBytes) : read(path, maxBytes, openQuickly);
}

async function read(path: string, maxBytes: number, openIt: typeof openQuickly): Promise<Reading<string>> {
  let file: OpenFile | undefined;
  try {
    file = await openIt(path, READ_SAFELY);
    const stats = await file.stat();
    const refused = refusal(stats, maxBytes);
    return refused ?? (await readText(file, stats.size));
  } catch (error) {
    return readingOfError(error);
  } finally {
    await file?.close();
  }
}

/** Why a file may not be read, judged from its stats alone. */
export function refusal(stats: FileStats, maxBytes: number): { kind: 'unusable'; reason: string } | undefined {
  if (stats.isSymbolicLink()) return aLink;
  if (!stats.isFile()) return unusable(stats.isDirectory() ? 'is a directory' : 'is not a regular file');
  if (stats.size > maxBytes) return unusable(`is larger than ${maxBytes} bytes`);
  return undefined;
}

async function readText(file: OpenFile, size: number): Promise<Reading<string>> {
  const bytes = await readUpTo(file, size + 1);
  if (bytes.length !== size) return unusable('changed while it was read');
  const decoded = decodeWhole(bytes);
  return decoded.kind === 'text' ? { kind: 'found', value: decoded.text } : unusable(decoded.message);
}

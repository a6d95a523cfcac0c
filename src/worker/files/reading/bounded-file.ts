import { constants } from 'node:fs';
import { decodeWhole } from '../../../shared/contract/json/utf8.ts';
import { aLink, type Reading, readingOfError, unusable } from '../../../shared/rules/reading.ts';
import { filesAt } from '../file-system.ts';
import type { FileStats, OpenFile } from '../ports/operations.ts';

/** Follows no link, and does not wait at a pipe: that would block one of the few threads for ever. */
export const READ_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type Readable = {
  read(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
};

/** The first bytes of a file: `atMost` at most. What was not there at first is for the next look. */
export async function readUpTo(file: Readable, atMost: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(atMost);
  let length = 0;
  while (length < atMost) {
    const { bytesRead } = await file.read(buffer, length, atMost - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/**
 * The text of one regular file of at most `maxBytes` bytes. Links, directories, pipes and devices are `unusable`: nothing
 * is followed, and nothing can make the reader wait.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<Reading<string>> {
  let file: OpenFile | undefined;
  try {
    file = await filesAt(path).open(path, READ_SAFELY);
    return await readWhole(file, maxBytes);
  } catch (error) {
    return readingOfError(error);
  } finally {
    await file?.close();
  }
}

/** The same of a file that is open. */
export async function readWhole(file: OpenFile, maxBytes: number): Promise<Reading<string>> {
  const stats = await file.stat();
  return refusal(stats, maxBytes) ?? (await readText(file, stats.size));
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

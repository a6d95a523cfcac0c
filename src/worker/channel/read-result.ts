import { constants, type Stats } from 'node:fs';
import { errnoOf } from '../../shared/errno.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { type Judgement, judgeResult } from './judge-result.ts';
import { lstat, type OpenFile, open } from './quick-files.ts';
import type { Room } from './room.ts';

/** What lies where a result is expected. `stamp` tells whether it changed between two looks, `writtenAt` when it last did. */
export type ReadResult =
  | { kind: 'absent' }
  | { kind: 'present'; judgement: Judgement; stamp: string; writtenAt: number };

type Expected = { mockId: string; dialect: Dialect; maxBytes: number };

/** Reads a result when there is room for it, and keeps that room while `use` runs. */
export async function withResult<T>(
  path: string,
  { room, ...expected }: Expected & { room: Room },
  use: (result: ReadResult) => Promise<T>,
): Promise<T> {
  const stats = await lstat(path).catch(() => undefined); // reading it says why
  const leave = await room.take(Math.min(stats?.size ?? 0, expected.maxBytes));
  try {
    return await use(await readResult(path, expected));
  } finally {
    leave();
  }
}

/** Reads a result file without following a link, waiting on a pipe, or reading more than is allowed. */
async function readResult(path: string, { mockId, dialect, maxBytes }: Expected): Promise<ReadResult> {
  let file: OpenFile | undefined;
  try {
    // O_NONBLOCK: opening a pipe would otherwise block one of the few threads for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    const stamp = `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
    const writtenAt = stats.mtimeMs;
    const refused = refuse(stats, maxBytes);
    if (refused) return { kind: 'present', judgement: { kind: 'wrong', message: refused }, stamp, writtenAt };
    return {
      kind: 'present',
      judgement: judgeResult(await readAll(file, stats.size, maxBytes), mockId, dialect),
      stamp,
      writtenAt,
    };
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' };
    const message = code === 'ELOOP' ? 'is a link, which is never followed' : `cannot be read (${code || error})`;
    return { kind: 'present', judgement: { kind: 'wrong', message }, stamp: code, writtenAt: Date.now() };
  } finally {
    await file?.close();
  }
}

function refuse(stats: Stats, maxBytes: number): string | undefined {
  if (!stats.isFile())
    return `is ${stats.isDirectory() ? 'a directory' : stats.isFIFO() ? 'a pipe' : 'not a regular file'}`;
  return stats.size > maxBytes
    ? `has ${stats.size} bytes, more than the ${maxBytes} allowed (MAX_RESULT_BYTES)`
    : undefined;
}

/** The file may grow while it is read; what was not there at first is for the next look. */
async function readAll(file: OpenFile, size: number, maxBytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(size, maxBytes));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

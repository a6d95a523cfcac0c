import { constants, type Stats } from 'node:fs';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { type Judgement, judgeResult } from './judge-result.ts';
import type { Room } from './memory-budget.ts';
import { lstat, type OpenFile, open } from './quick-files.ts';
import type { Sight } from './unusable-result.ts';

/** What lies where a result is expected. `stamp` tells whether it changed since another look, `writtenAt` when it last did. */
export type ReadResult =
  | { kind: 'absent' }
  | { kind: 'present'; judgement: Judgement; stamp: string; writtenAt: number };

type Expected = { mockId: string; dialect: Dialect; maxBytes: number };
type Reading = Expected & {
  room: Room;
  /** Whether to read what is there; everything unless told otherwise. */
  isWorthIt?: (sight: Sight) => boolean;
  /** Nobody wants it any more: asked once there is room. */
  isOver?: () => boolean;
};

/** Reads a result when there is room for it, keeps that room while `use` runs, and resolves to what that came to, if it ran. */
export async function withResult<T>(
  path: string,
  { room, isWorthIt = () => true, isOver = () => false, ...expected }: Reading,
  use: (result: ReadResult) => Promise<T>,
): Promise<T | undefined> {
  const sight = await sightOf(path);
  if (!sight) return use({ kind: 'absent' });
  if (!isWorthIt(sight)) return undefined;
  const leave = await room.take(Math.min(sight.bytes, expected.maxBytes));
  try {
    return isOver() ? undefined : await use(await readResult(path, sight, expected));
  } finally {
    leave();
  }
}

async function sightOf(path: string): Promise<Sight | undefined> {
  try {
    const { ino, size, mtimeMs } = await lstat(path);
    return { stamp: `${ino}:${size}:${mtimeMs}`, bytes: size };
  } catch (error) {
    return isMissing(error) ? undefined : { stamp: errnoOf(error), bytes: 0 }; // reading it says why
  }
}

/** Reads a result file without following a link, waiting on a pipe, or reading more than is allowed. */
async function readResult(
  path: string,
  { stamp }: Sight,
  { mockId, dialect, maxBytes }: Expected,
): Promise<ReadResult> {
  let file: OpenFile | undefined;
  try {
    // O_NONBLOCK: opening a pipe would otherwise block one of the few threads for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await file.stat();
    const writtenAt = stats.mtimeMs;
    const refused = refuse(stats, maxBytes);
    const judgement: Judgement = refused
      ? { kind: 'wrong', message: refused }
      : judgeResult(await readAll(file, stats.size, maxBytes), mockId, dialect);
    return { kind: 'present', judgement, stamp, writtenAt };
  } catch (error) {
    if (isMissing(error)) return { kind: 'absent' };
    const code = errnoOf(error);
    const message = code === 'ELOOP' ? 'is a link, which is never followed' : `cannot be read (${code || error})`;
    return { kind: 'present', judgement: { kind: 'wrong', message }, stamp, writtenAt: Date.now() };
  } finally {
    await file?.close();
  }
}

function isMissing(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR';
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

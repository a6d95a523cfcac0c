import { dirname } from 'node:path';
import { unless } from '../../shared/runtime/errno.ts';
import { time } from '../../shared/seams/time.ts';
import { inDirectory } from '../files/directory-limit.ts';
import { readBoundedFile } from '../reading/bounded-file.ts';
import { lstat } from '../seams/files.ts';
import { type HeartbeatFile, parseHeartbeat } from './registration.ts';

const MAX_HEARTBEAT_BYTES = 64 * 1024;

/** `changedAt`: when a heartbeat was first seen to differ from the one before, epoch ms; 0 when it never did. */
export type Beat = HeartbeatFile & { mtimeMs: number; changedAt: number };

/** Reads a heartbeat unless its file is the `known` one; while a new one cannot be read, the known one counts. */
export async function readBeat(path: string, known: Beat | undefined): Promise<Beat | null> {
  const stats = await inDirectory(dirname(path), () => lstat(path)).catch(unless('ENOENT', 'ENOTDIR'));
  if (!stats) return null;
  if (known?.mtimeMs === stats.mtimeMs) return known;
  const text = await readBoundedFile(path, MAX_HEARTBEAT_BYTES);
  const parsed = text.kind === 'found' ? parseHeartbeat(text.value) : null;
  if (!parsed) return known ?? null;
  return { ...parsed, mtimeMs: stats.mtimeMs, changedAt: known ? time.now() : 0 };
}

type Times = { clockAheadMs: number; clientTimeoutMs: number };

/** Fresh by the client's clock and by the file system's. When they disagree, one of them is wrong, and only a beat that was seen to change counts. */
export function isFresh(
  { lastHeartbeat, mtimeMs, changedAt }: Beat,
  { clockAheadMs, clientTimeoutMs }: Times,
): boolean {
  const now = time.now();
  const byItsClock = Math.abs(now - lastHeartbeat) < clientTimeoutMs;
  const byFileTime = now + clockAheadMs - mtimeMs < clientTimeoutMs;
  return byItsClock === byFileTime ? byItsClock : now - changedAt < clientTimeoutMs;
}

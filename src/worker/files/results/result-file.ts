import { basename, dirname } from 'node:path';
import { type Fault, fault } from '../../../shared/contract/client-files.ts';
import { time } from '../../../shared/ports/time.ts';
import { errnoOf } from '../../../shared/runtime/errno.ts';
import { directoryAt } from '../client-directory.ts';
import type { Dialect } from '../dialects/dialects.ts';
import type { Lease, MemoryBudget } from '../memory-budget.ts';
import type { FileStats, OpenFile } from '../ports/operations.ts';
import { readUpTo } from '../reading/bounded-file.ts';
import { type Judgement, judgeResult } from './judge-result.ts';
import { type Sight, toSight } from './unusable-result.ts';

/**
 * The file where a result is expected. `stamp` tells whether it changed since another look, `writtenAt` when it last did.
 * `skipped`: it is there and was not worth reading. `unreadable`: this worker could not read it, which says nothing about
 * what the client wrote.
 */
export type FoundResult =
  | { kind: 'absent' }
  | { kind: 'skipped' }
  | { kind: 'unreadable'; code: string }
  | { kind: 'present'; judgement: Judgement; stamp: string; writtenAt: number; lease: Lease };

type Expected = { mockId: string; dialect: Dialect; maxBytes: number; memory: MemoryBudget };
type Options = {
  /** Whether this file is worth reading. Default: always. */
  isWorthIt?: (sight: Sight) => boolean;
  /** The file as somebody has just seen it. If missing, this function looks itself. */
  sight?: Sight | undefined;
  /** Ends the wait for memory. */
  signal?: AbortSignal;
};

const ABSENT = { kind: 'absent' } as const;

/** Reads a result once there is memory for it. The caller releases the lease of one that is `present`. */
export async function readResult(
  path: string,
  { maxBytes, memory, ...expected }: Expected,
  { isWorthIt = () => true, sight: seen, signal }: Options = {},
): Promise<FoundResult> {
  const sight = seen ?? (await sightOf(path));
  if ('kind' in sight) return sight;
  if (!isWorthIt(sight)) return { kind: 'skipped' };
  signal?.throwIfAborted();
  const lease = await memory.acquire(Math.min(sight.bytes, maxBytes), signal);
  const found = await readAndJudge(path, { ...expected, maxBytes }).catch(failedReading);
  if (found.kind === 'present' && !signal?.aborted) return { ...found, stamp: sight.stamp, lease };
  lease.release();
  signal?.throwIfAborted();
  return found.kind === 'present' ? { kind: 'skipped' } : found;
}

async function sightOf(path: string): Promise<Sight | Exclude<FoundResult, { kind: 'present' }>> {
  try {
    return toSight(await directoryAt(dirname(path)).stat(basename(path)));
  } catch (error) {
    const code = errnoOf(error);
    return MISSING.has(code) ? ABSENT : { kind: 'unreadable', code };
  }
}

type Judged = { kind: 'present'; judgement: Judgement; writtenAt: number };

/** Reads no more of a result file than is allowed. */
async function readAndJudge(path: string, { mockId, dialect, maxBytes }: Omit<Expected, 'memory'>): Promise<Judged> {
  return directoryAt(dirname(path)).read(basename(path), async (file: OpenFile) => {
    const stats = await file.stat();
    const refused = refuse(stats, maxBytes);
    const judgement: Judgement = refused
      ? { kind: 'wrong', fault: refused }
      : judgeResult(await readUpTo(file, Math.min(stats.size, maxBytes)), mockId, dialect);
    return { kind: 'present', judgement, writtenAt: stats.mtimeMs };
  });
}

/** Only what the client itself put there is its fault: a link in the place of a file, or something that is no file. */
const NOT_A_FILE = new Map([
  ['ELOOP', fault('result-link')],
  ['ENXIO', fault('result-socket')],
]);
const MISSING = new Set(['ENOENT', 'ENOTDIR']);

function failedReading(error: unknown): Judged | Exclude<FoundResult, { kind: 'present' }> {
  const code = errnoOf(error);
  if (MISSING.has(code)) return ABSENT;
  const found = NOT_A_FILE.get(code);
  if (found === undefined) return { kind: 'unreadable', code };
  return { kind: 'present', judgement: { kind: 'wrong', fault: found }, writtenAt: time.now() };
}

function refuse(stats: FileStats, maxBytes: number): Fault | undefined {
  if (!stats.isFile())
    return fault(stats.isDirectory() ? 'result-directory' : stats.isFIFO() ? 'result-pipe' : 'result-no-file');
  return stats.size > maxBytes ? fault('result-too-large', { bytes: stats.size, maxBytes }) : undefined;
}

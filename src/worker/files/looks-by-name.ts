import { join } from 'node:path';
import { time } from '../../shared/seams/time.ts';
import { AT_ONCE, limitedByDirectory } from './directory/directory-limit.ts';
import type { Waiting, Watched } from './directory/watched-directory.ts';
import { resultFileName } from './file-names.ts';
import { gapOfWait } from './look-schedule.ts';
import { toSight } from './results/unusable-result.ts';
import { lstat } from './seams/files.ts';
import { timed } from './timed.ts';

/** Looks at this many names take about as long as one listing. */
export const FEW = 8;

/**
 * Looks for the results of the waits that are due, those first that are due for longest, until `allowedMs` are used up, but
 * at `FEW` at least. Tells who waits for one that is there. Resolves with how long it took, in ms.
 */
export async function lookByName(watched: Watched, allowedMs: number): Promise<number> {
  const now = time.monotonic();
  const due = [...watched.listeners].filter(([, { lookAt }]) => lookAt <= now);
  due.sort(([, a], [, b]) => a.lookAt - b.lookAt);
  const left = due[Symbol.iterator]();
  let looks = 0;
  let tookMs = 0;
  const lookOnAndOn = async () => {
    for (const [mockId, waiting] of left) {
      tookMs += (await lookAtResult(watched, mockId, waiting)) / AT_ONCE;
      if (++looks >= FEW && tookMs > allowedMs) return;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lookOnAndOn));
  return tookMs;
}

/** When the next of few results is due. Where many wait, a listing finds them, and going through all of them would take its time. */
export function nextDue({ listeners }: Watched): number | null {
  return listeners.size > FEW ? null : Math.min(...[...listeners.values()].map(({ lookAt }) => lookAt));
}

/** Resolves with how long the look itself took, in ms. */
async function lookAtResult(watched: Watched, mockId: string, waiting: Waiting): Promise<number> {
  const { directory, listeners } = watched;
  noteLook(watched, waiting);
  const look = () => lstat(join(directory, resultFileName(mockId))).then(toSight, () => undefined);
  const { value: sight, tookMs } = await limitedByDirectory(directory, () => timed(look));
  if (sight && listeners.get(mockId) === waiting) {
    noteResult(watched, waiting);
    waiting.tell({ kind: 'result-seen', sight });
  }
  return tookMs;
}

function noteLook({ lastAnswerMs }: Watched, waiting: Waiting): void {
  const now = time.monotonic();
  waiting.lookAt = now + gapOfWait(now - waiting.since, lastAnswerMs);
}

/** A result is there: the next one is expected to take as long, and this one is not looked for again at once. */
export function noteResult(watched: Watched, waiting: Waiting): void {
  watched.lastAnswerMs = time.monotonic() - waiting.since;
  noteLook(watched, waiting);
}

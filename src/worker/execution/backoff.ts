import { time } from '../../shared/ports/time.ts';

const LEAST_MS = 250;
const APART_MS = 5;

/** The delays of jobs that are requeued. They come back at most 200 a second, so that requeueing never fills a core. */
export function createBackoff() {
  let lastAt = Number.NEGATIVE_INFINITY;
  return function awayMs(): number {
    const now = time.monotonic();
    lastAt = Math.max(now + LEAST_MS, lastAt + APART_MS);
    return lastAt - now;
  };
}

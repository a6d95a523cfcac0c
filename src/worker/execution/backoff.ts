import { time } from '../../shared/seams/time.ts';

const LEAST_MS = 250;
const EACH_MS = 2;

/** The delays of jobs that are requeued: the more of them in one second, the longer, so that requeueing never fills a core. */
export function createBackoff() {
  let second = 0;
  let count = 0;
  return function awayMs(): number {
    const now = Math.floor(time.now() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    return Math.max(LEAST_MS, count * EACH_MS);
  };
}

import { join } from 'node:path';

const SHIFT = join(import.meta.dirname, 'shift-clock.ts');

/** Settings that make a process believe it is so many minutes later than it is. */
export const clockAhead = (minutes: number) => ({
  NODE_OPTIONS: `--import ${SHIFT}`,
  CLOCK_AHEAD_MS: minutes * 60_000,
});

import type { Settings } from '../../shared/runtime/settings.ts';
import type { FileClock } from '../files/file-clock.ts';

/** An answer may be reported this long after the client's deadline: a little less than the slack of `apiWaitMs`. */
export const PASS_ON_WITHIN_MS = 8000;

/** Whether no worker can still report an answer in time, whatever it knows. */
export function isOverForAll(claimBy: number, clock: FileClock, { RESULT_TIMEOUT_MS }: Settings): boolean {
  return clock.isPast(claimBy + RESULT_TIMEOUT_MS + PASS_ON_WITHIN_MS);
}

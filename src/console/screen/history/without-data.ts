import type { Reading } from '../../run/reading.ts';
import type { TextKey } from '../../text/en.ts';

/** Why there is no data after a run to be shown. */
export function withoutData({ execution: { record } }: Reading): TextKey {
  const { outcome } = record;
  if (outcome === null || outcome.code === null) return 'changes.failed';
  return outcome.mayHaveRun ? 'changes.unknown' : 'changes.notRun';
}

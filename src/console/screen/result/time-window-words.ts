import type { TimeWindow } from '../../../shared/reasoning/tree.ts';
import type { Say } from '../../text/use-text.tsx';

/** A time window in words, in the time zone the reader chose. */
export function windowWords(
  { type, start, end }: TimeWindow,
  { say, moment }: { say: Say; moment: (ms: string) => string },
): string {
  return say(`node.window.${type}`, { start: moment(start ?? '0'), end: moment(end ?? '0') });
}

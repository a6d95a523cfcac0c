import type { TimeWindow } from '../../../shared/reasoning/tree.ts';
import { formatMoment } from '../../text/durations.ts';
import type { Say } from '../../text/use-text.tsx';

/** A time window in words, in the time zone the reader chose. */
export function windowWords(
  { type, start, end }: TimeWindow,
  { say, language, zone }: { say: Say; language: string; zone: string },
): string {
  const moment = (ms: string | null) => formatMoment(ms ?? '0', language, zone);
  return say(`node.window.${type}`, { start: moment(start), end: moment(end) });
}

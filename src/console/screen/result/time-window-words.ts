import { formatMoment } from '../../text/durations.ts';
import type { Say } from '../../text/use-text.tsx';
import type { TimeWindow } from '../../trace/tree.ts';

/** A time window in words, in the reader's time. */
export function windowWords(
  { type, start, end }: TimeWindow,
  { say, language }: { say: Say; language: string },
): string {
  const moment = (ms: string | null) => formatMoment(ms ?? '0', language);
  return say(`node.window.${type}`, { start: moment(start), end: moment(end) });
}

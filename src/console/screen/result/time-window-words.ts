import type { TimeWindow } from '../../../shared/reasoning/tree.ts';
import type { Say } from '../../text/use-text.tsx';

/** A time window in words, in the time zone the reader chose. */
export function windowWords(
  { type, start, end }: TimeWindow,
  { say, moment }: { say: Say; moment: (ms: string) => string },
): string {
  return say(`node.window.${type}`, { start: moment(start ?? '0'), end: moment(end ?? '0') });
}

type Edge = { name: 'before' | 'start' | 'end' | 'after'; ts: string };

/** The moments where a window begins and ends, and those just outside. */
export function edgesOf({ type, start, end }: TimeWindow): Edge[] {
  const edges: Edge[] = [];
  if ((type === 'after' || type === 'between') && start !== null) {
    edges.push({ name: 'before', ts: String(BigInt(start) - 1n) }, { name: 'start', ts: start });
  }
  if ((type === 'before' || type === 'between') && end !== null) {
    edges.push({ name: 'end', ts: end }, { name: 'after', ts: String(BigInt(end) + 1n) });
  }
  return edges.filter(({ ts }) => BigInt(ts) > 0n);
}

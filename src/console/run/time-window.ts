import type { TimeWindow } from '../../shared/reasoning/tree.ts';

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

import type { TimeWindow } from '../trace/tree.ts';

/** Whether a time in epoch ms is outside a window; both ends belong to it. */
export function isOutside({ type, start, end }: TimeWindow, ms: string): boolean {
  const at = BigInt(ms);
  const early = (type === 'after' || type === 'between') && at < BigInt(start ?? 0);
  const late = (type === 'before' || type === 'between') && at > BigInt(end ?? 0);
  return early || late;
}

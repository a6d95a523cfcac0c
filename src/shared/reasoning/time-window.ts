import type { TimeWindow } from './tree.ts';

/** Whether a time in epoch ms is outside a window; both ends belong to it. */
export function isOutside({ type, start, end }: TimeWindow, at: bigint | number): boolean {
  const early = (type === 'after' || type === 'between') && at < BigInt(start ?? 0);
  const late = (type === 'before' || type === 'between') && at > BigInt(end ?? 0);
  return early || late;
}

/** The end of a time window in epoch ms; null for one without an end. */
export function endOf({ type, end }: TimeWindow): number | null {
  return type === 'before' || type === 'between' ? Number(end ?? 0) : null;
}

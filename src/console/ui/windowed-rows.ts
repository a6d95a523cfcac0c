import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';

/** `tall`: one row that is higher than the others; none for -1. */
type Options = { count: number; rowHeight: number; tall?: { row: number; height: number }; overscan?: number };

/** Which of many rows a scrolled box shows: only those are drawn. */
export function useWindowedRows(
  box: RefObject<HTMLElement | null>,
  { count, rowHeight, tall = { row: -1, height: 0 }, overscan = 12 }: Options,
) {
  const rows = useVirtualizer({
    count,
    overscan,
    getScrollElement: () => box.current,
    estimateSize: (row) => (row === tall.row ? tall.height : rowHeight),
    initialRect: { width: 0, height: 800 },
    useFlushSync: false,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes are asked for once, and another row may be the tall one now
  useEffect(() => rows.measure(), [rows, tall.row]);
  const drawn = rows.getVirtualItems();
  return {
    first: drawn[0]?.index ?? 0,
    last: (drawn.at(-1)?.index ?? -1) + 1,
    above: drawn[0]?.start ?? 0,
    total: rows.getTotalSize(),
  };
}

type Reveal = { rowHeight: number; head: number; own?: number };

/** Scrolls a box by as little as it takes to see a row below the `head` that stays at its top. `own`: the height of this row. */
export function reveal(box: HTMLElement | null, row: number, { rowHeight, head, own = rowHeight }: Reveal) {
  if (!box) return;
  const top = row * rowHeight;
  const room = box.clientHeight - head;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + own > box.scrollTop + room) box.scrollTop = top + own - room;
}

import { useVirtualizer } from '@tanstack/react-virtual';
import type { RefObject } from 'react';

type Options = { count: number; rowHeight: number; overscan?: number };

/** Which of many equally high rows a scrolled box shows: only those are drawn. */
export function useWindowedRows(box: RefObject<HTMLElement | null>, { count, rowHeight, overscan = 12 }: Options) {
  const rows = useVirtualizer({
    count,
    overscan,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    initialRect: { width: 0, height: 800 },
    useFlushSync: false,
  });
  const drawn = rows.getVirtualItems();
  return {
    first: drawn[0]?.index ?? 0,
    last: (drawn.at(-1)?.index ?? -1) + 1,
    above: drawn[0]?.start ?? 0,
    total: rows.getTotalSize(),
  };
}

/** Scrolls a box by as little as it takes to see a row below the `head` that stays at its top. */
export function reveal(box: HTMLElement | null, row: number, { rowHeight, head }: { rowHeight: number; head: number }) {
  if (!box) return;
  const top = row * rowHeight;
  const room = box.clientHeight - head;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight > box.scrollTop + room) box.scrollTop = top + rowHeight - room;
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useSyncExternalStore } from 'react';

/** One row that is higher than the others; none for -1. */
type Tall = { row: number; height: number };
const NONE_TALL: Tall = { row: -1, height: 0 };

type Options = { count: number; rowHeight: number; tall?: Tall; overscan?: number };

/** Which of many rows a scrolled box shows: only those are drawn. */
export function useWindowedRows(
  box: RefObject<HTMLElement | null>,
  { count, rowHeight, tall = NONE_TALL, overscan = 12 }: Options,
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

const narrow = window.matchMedia('(width < 820px)');
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

/** Whether the screen has no room for more than what decides. */
export const isNarrow = () => narrow.matches;
export const useIsNarrow = () => useSyncExternalStore(onNarrow, isNarrow);

type Reveal = { rowHeight: number; head: number; tall?: Tall };

/** Scrolls a box by as little as it takes to see a row below the `head` that stays at its top. */
export function reveal(box: HTMLElement | null, row: number, { rowHeight, head, tall = NONE_TALL }: Reveal) {
  if (!box) return;
  const isBelowTall = tall.row >= 0 && tall.row < row;
  const top = row * rowHeight + (isBelowTall ? tall.height - rowHeight : 0);
  const height = row === tall.row ? tall.height : rowHeight;
  const room = box.clientHeight - head;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + height > box.scrollTop + room) box.scrollTop = top + height - room;
}

import { type RefObject, useLayoutEffect, useState, useSyncExternalStore } from 'react';

/** Rows of one height, but for one that may be higher; none for -1. */
type Heights = { rowHeight: number; tall?: { row: number; height: number } };

const topOf = (row: number, { rowHeight, tall = { row: -1, height: 0 } }: Heights) =>
  row * rowHeight + (tall.row >= 0 && tall.row < row ? tall.height - rowHeight : 0);

/** Rows that are drawn beyond those that are seen: they are there before they come into view. */
const BEYOND = 12;

/** Which of many rows a scrolled box shows: only those are drawn. */
export function useWindowedRows(
  box: RefObject<HTMLElement | null>,
  { count, ...heights }: Heights & { count: number },
) {
  const [seen, setSeen] = useState({ first: 0, rows: 40 });
  const { rowHeight } = heights;
  // The box may come after the first drawing, or be another one later.
  const [element, setElement] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => setElement(box.current));
  useLayoutEffect(() => {
    if (!element) return;
    const look = () => {
      const first = Math.floor(element.scrollTop / rowHeight);
      const rows = Math.ceil(element.clientHeight / rowHeight);
      setSeen((now) => (now.first === first && now.rows === rows ? now : { first, rows }));
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [element, rowHeight]);
  const first = Math.max(0, Math.min(seen.first, count - seen.rows) - BEYOND);
  const last = Math.min(count, seen.first + seen.rows + BEYOND);
  return { first, last, above: topOf(first, heights), total: topOf(count, heights) };
}

const narrow = window.matchMedia('(width < 820px)');
const onNarrow = (listener: () => void) => {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
};

/** Whether the screen has no room for more than what decides. */
export const isNarrow = () => narrow.matches;
export const useIsNarrow = () => useSyncExternalStore(onNarrow, isNarrow);

/** Scrolls a box by as little as it takes to see a row below the `head` that stays at its top. */
export function reveal(box: HTMLElement | null, row: number, { head, ...heights }: Heights & { head: number }): void {
  if (!box) return;
  const top = topOf(row, heights);
  const bottom = topOf(row + 1, heights);
  const room = box.clientHeight - head;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + room) box.scrollTop = bottom - room;
}

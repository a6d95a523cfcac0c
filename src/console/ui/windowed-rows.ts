import { type RefObject, useLayoutEffect, useState } from 'react';

type Options = { count: number; rowHeight: number; overscan?: number };

/** Which of many equally high rows a scrolled box shows: only those are drawn. */
export function useWindowedRows(box: RefObject<HTMLElement | null>, { count, rowHeight, overscan = 12 }: Options) {
  const [view, setView] = useState({ top: 0, height: 800 });

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const next = { top: element.scrollTop, height: element.clientHeight };
      setView((now) => (now.top === next.top && now.height === next.height ? now : next));
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      resized.disconnect();
    };
  }, [box]);

  const first = Math.max(0, Math.min(count, Math.floor(view.top / rowHeight)) - overscan);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + overscan);
  return { first, last, above: first * rowHeight, total: count * rowHeight };
}

/** Scrolls a box by as little as it takes to see a row below the `head` that stays at its top. */
export function reveal(box: HTMLElement | null, row: number, { rowHeight, head }: { rowHeight: number; head: number }) {
  if (!box) return;
  const top = row * rowHeight;
  const room = box.clientHeight - head;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight > box.scrollTop + room) box.scrollTop = top + rowHeight - room;
}

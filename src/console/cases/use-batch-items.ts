import { useEffect, useState } from 'react';
import { getItems, type Item } from '../api/batch-items.ts';

const PAGE = 1000;
const AGAIN_AFTER_MS = 1000;
const MAX_KEPT = 6;

/** Items of batches that are over do not change any more. */
const ended = new Map<string, readonly Item[]>();
const none: readonly Item[] = [];

/** Every item of a batch in their order; pages with items that wait for their run are asked for again until there are none. */
export function useBatchItems(batchId: string | null): readonly Item[] {
  const [seen, setSeen] = useState<{ batchId: string; items: readonly Item[] } | null>(null);
  useEffect(() => {
    if (batchId === null) return;
    const known = ended.get(batchId);
    if (known) return setSeen({ batchId, items: known });
    const stopped = new AbortController();
    void load(batchId, stopped.signal, (items) => setSeen({ batchId, items }));
    return () => stopped.abort();
  }, [batchId]);
  return batchId !== null && seen?.batchId === batchId ? seen.items : none;
}

async function load(batchId: string, signal: AbortSignal, show: (items: Item[]) => void): Promise<void> {
  const pages: Item[][] = [];
  while (!signal.aborted) {
    const isComplete = await loadOnce(batchId, { pages, signal }).catch(() => false);
    if (signal.aborted) return;
    const items = pages.flat();
    show(items);
    if (isComplete) return keep(batchId, items);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
  }
}

/** Reads what is new. The items of a batch are run in their order, so that behind a page without any result there is none. */
async function loadOnce(
  batchId: string,
  { pages, signal }: { pages: Item[][]; signal: AbortSignal },
): Promise<boolean> {
  for (let page = 0; ; page++) {
    const known = pages[page];
    if (known?.every(({ verdict }) => verdict !== 'pending')) {
      if (page === pages.length - 1) return true;
      continue;
    }
    const { items, next } = await getItems(batchId, { after: page * PAGE, limit: PAGE, details: true }, signal);
    pages[page] = items;
    if (next === null) return pages.flat().every(({ verdict }) => verdict !== 'pending');
    if (known && items.every(({ verdict }) => verdict === 'pending')) return false;
  }
}

function keep(batchId: string, items: readonly Item[]): void {
  ended.set(batchId, items);
  for (const oldest of ended.keys()) {
    if (ended.size <= MAX_KEPT) break;
    ended.delete(oldest);
  }
}

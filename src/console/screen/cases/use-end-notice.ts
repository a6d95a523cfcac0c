import { useEffect, useState } from 'react';
import type { Batch } from '../../api/batches.ts';

/** The batches whose end is to be told, as long as this page is open. */
const wanted = new Set<string>();

/** Whether the end of a batch is to be told by the browser, and how to ask for it; null where the browser cannot. */
export function useEndNotice({ batchId }: Batch): { wants: boolean; ask: (() => void) | null } {
  const [wants, setWants] = useState(wanted.has(batchId));
  if (!('Notification' in window) || Notification.permission === 'denied') return { wants: false, ask: null };
  const ask = async () => {
    if (wanted.delete(batchId)) return setWants(false);
    if ((await Notification.requestPermission()) !== 'granted') return;
    wanted.add(batchId);
    setWants(true);
  };
  return { wants, ask: () => void ask() };
}

/** When a batch ends while the reader looks elsewhere, the title of the page says so, and the browser where that was asked for. */
export function useTellEnd(batch: Batch | null, { isOver, words }: { isOver: boolean; words: string }): void {
  const [ran, setRan] = useState<string | null>(null);
  const batchId = batch?.batchId ?? null;
  useEffect(() => {
    if (batchId === null) return;
    if (!isOver) return setRan(batchId);
    if (ran !== batchId) return;
    setRan(null);
    if (wanted.delete(batchId)) new Notification(words);
    if (document.hidden) tellInTitle(words);
  }, [batchId, isOver, ran, words]);
}

const TITLE = document.title;

/** Until the reader is back. */
function tellInTitle(words: string): void {
  document.title = words;
  document.addEventListener('visibilitychange', () => (document.title = TITLE), { once: true });
}

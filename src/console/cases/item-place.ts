import type { Place } from '../state/location.ts';

/** Which item is open: of the batch that is shown, or of the one it repeats a part of. */
export function readItemPlace({ batch, item }: Pick<Place, 'batch' | 'item'>): { batchId: string; n: string } | null {
  const [, other, n] = /^(?:([\w-]+)\.)?(\d{1,6})$/.exec(item ?? '') ?? [];
  const batchId = other ?? batch;
  return n === undefined || batchId === null ? null : { batchId, n };
}

/** How the address names an item. */
export function printItemPlace({ batchId, n }: { batchId: string; n: number }, shown: string | null): string {
  return batchId === shown ? String(n) : `${batchId}.${n}`;
}

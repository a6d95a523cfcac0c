import type { Batch, ItemHead } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { type BatchStore, CASES_PER_CHUNK } from '../../shared/store/batches/batch-store.ts';

const HEADS_AT_ONCE = 1000;

export type NumberedHead = { n: number; head: ItemHead };

/** Every case of a batch, in its order. */
export async function allCases({ batchId, cases }: Batch, store: BatchStore): Promise<Case[]> {
  const chunks = Array.from({ length: Math.ceil(cases / CASES_PER_CHUNK) }, (_, chunk) => store.cases(batchId, chunk));
  return (await Promise.all(chunks)).flat();
}

/** How each item ended so far, by its number. */
export async function allHeads({ batchId, cases, targets }: Batch, store: BatchStore): Promise<NumberedHead[]> {
  const all: NumberedHead[] = [];
  const last = cases * targets.length;
  for (let first = 1; first <= last; first += HEADS_AT_ONCE) {
    const heads = await store.heads(batchId, first, Math.min(last, first + HEADS_AT_ONCE - 1));
    all.push(...heads.map((head, index) => ({ n: first + index, head })));
  }
  return all;
}

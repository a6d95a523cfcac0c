import { itemNumber } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import { type BatchStore, CASES_PER_CHUNK } from '../../shared/store/batches/batch-store.ts';

/**
 * Erases the item of a batch that an execution ran: its case, which all targets of the batch share, and the record of its
 * run. The verdict stays, so that the counts of the batch do. `none`: no batch has such an item, or it was erased before.
 */
export function createEraseItem(store: BatchStore) {
  return async function eraseItem(mockId: string, batchId: string | null): Promise<'erased' | 'running' | 'none'> {
    let came: 'erased' | 'none' = 'none';
    for (const id of batchId === null ? await store.list() : [batchId]) {
      const found = await store.read(id);
      if (found === null || found === 'gone') continue;
      const { batch, progress } = found;
      const place = placeOf(mockId, batch);
      if (!place) continue;
      if (progress.state === 'running' || progress.state === 'cancelling') return 'running';
      const chunk = Math.floor(place.caseIndex / CASES_PER_CHUNK);
      const cases = await store.cases(id, chunk);
      const index = place.caseIndex % CASES_PER_CHUNK;
      const one = cases[index];
      if (one !== undefined && !isErased(one)) came = 'erased';
      const n = itemNumber(batch, place.caseIndex, place.targetIndex);
      await store.erase(id, { n, chunk, cases: one === undefined ? cases : cases.with(index, erased(one)) });
    }
    return came;
  };
}

type Size = { batchId: string; cases: number; targets: string[] };

function placeOf(mockId: string, { batchId, cases, targets }: Size) {
  for (let caseIndex = 0; caseIndex < cases; caseIndex++) {
    const targetIndex = targets.findIndex((target) => itemMockId(batchId, caseIndex, target) === mockId);
    if (targetIndex >= 0) return { caseIndex, targetIndex };
  }
  return null;
}

const isErased = ({ name, input }: Case) => name === 'erased' && input === '{}';

function erased({ tags: _, ...one }: Case): Case {
  return { ...one, name: 'erased', input: '{}', ts: null, tags: [], expect: null };
}

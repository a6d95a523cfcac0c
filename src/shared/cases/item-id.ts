import { determinedId } from '../contract/determined-id.ts';

/** The mockId of an item: the same for every worker and every attempt, so that its claim holds for all attempts. */
export function itemMockId(batchId: string, caseIndex: number, target: string): string {
  return determinedId([batchId, caseIndex, target]);
}

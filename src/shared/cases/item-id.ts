import { createHash } from 'node:crypto';

/** The mockId of an item: the same for every worker and every attempt, so that its claim holds for all attempts (UUID version 8). */
export function itemMockId(batchId: string, caseIndex: number, target: string): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify([batchId, caseIndex, target]))
    .digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

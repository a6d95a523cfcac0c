import type { BatchStore } from '../../shared/store/batches/batch-store.ts';

export type BatchSlots = ReturnType<typeof createBatchSlots>;

/**
 * The slots of one batch at clients, which are leases: they are renewed as long as this worker runs the batch, so those of a dead worker expire
 * soon.
 */
export function createBatchSlots(store: BatchStore, batchId: string) {
  const held = new Map<string, Set<string>>();

  return {
    async acquire(client: string, mockId: string, limit: number): Promise<boolean> {
      if (!(await store.acquire({ client, batchId, mockId, limit }))) return false;
      held.set(client, (held.get(client) ?? new Set()).add(mockId));
      return true;
    },
    async release(client: string, mockId: string): Promise<void> {
      const here = held.get(client);
      here?.delete(mockId);
      if (here?.size === 0) held.delete(client);
      await store.release({ client, batchId, mockId });
    },
    async renew(): Promise<void> {
      for (const [client, mockIds] of held) await store.renew(client, [...mockIds]);
    },
  };
}

import { time } from '../../../ports/time.ts';
import { type BatchStore, SLOT_MS, WANTED_MS } from '../../batches/batch-store.ts';

type Turns = {
  open: Map<string, number>;
  wanted: Map<string, { at: number; limit: number }>;
  served: Map<string, number>;
};

/** Slots for items at clients: at most `limit` at once for each client, and batches take turns. */
export function createEmbeddedSlots(): Pick<BatchStore, 'acquire' | 'renew' | 'release'> {
  const clients = new Map<string, Turns>();
  let grants = 0;

  return {
    async acquire({ client, batchId, mockId, limit }) {
      const now = time.now();
      const turns: Turns = clients.get(client) ?? { open: new Map(), wanted: new Map(), served: new Map() };
      clients.set(client, turns);
      for (const [id, until] of turns.open) if (until <= now) turns.open.delete(id);
      for (const [id, { at }] of turns.wanted) if (at + WANTED_MS <= now) turns.wanted.delete(id);
      turns.wanted.set(batchId, { at: now, limit });
      const servedAt = (id: string) => turns.served.get(id) ?? 0;
      const isNext = [...turns.wanted].every(
        ([id, other]) => id === batchId || other.limit <= turns.open.size || servedAt(id) >= servedAt(batchId),
      );
      if (turns.open.size >= limit || !isNext) return false;
      turns.open.set(mockId, now + SLOT_MS);
      turns.wanted.delete(batchId);
      turns.served.set(batchId, ++grants);
      return true;
    },
    async renew(client, mockIds) {
      const open = clients.get(client)?.open;
      for (const id of mockIds) open?.set(id, time.now() + SLOT_MS);
    },
    async release({ client, mockId }) {
      clients.get(client)?.open.delete(mockId);
    },
  };
}

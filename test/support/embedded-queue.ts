import { openQueueBackend } from '../../src/shared/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../src/shared/queue/queue-backend.ts';

export type LentQueue = { backend: QueueBackend; giveBack(): Promise<void> };

/** A queue store in this process with no job in it. Give it back once the service on it has stopped. */
export async function borrowEmbeddedQueue(): Promise<LentQueue> {
  const backend = await openQueueBackend(undefined);
  return { backend, giveBack: () => backend.close() };
}

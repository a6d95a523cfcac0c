import { openQueueBackend } from '../../src/shared/store/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../src/shared/store/queue/queue-backend.ts';
import { queueNames } from '../../src/shared/store/queue/queue-names.ts';

export type LentQueue = { backend: QueueBackend; giveBack(): Promise<void> };

/** Open and empty. Starting an embedded queue takes a second of processor time, so the files of a test process share them. */
const idle: QueueBackend[] = [];

/** An embedded queue with no job in it. Give it back once the service on it has stopped. */
export async function borrowEmbeddedQueue(): Promise<LentQueue> {
  const backend = idle.pop() ?? (await openQueueBackend(undefined));
  let givingBack: Promise<void> | undefined;
  return {
    backend,
    giveBack: () => {
      givingBack ??= putBack(backend);
      return givingBack;
    },
  };
}

/** A queue that cannot be emptied is closed: the next one must not find the jobs of this one. */
async function putBack(backend: QueueBackend): Promise<void> {
  try {
    for (const name of Object.values(queueNames)) await empty(backend, name);
    await backend.directory.forget();
    idle.push(backend);
  } catch {
    await backend.close();
  }
}

async function empty(backend: QueueBackend, name: string): Promise<void> {
  const queue = backend.openQueue(name);
  try {
    await queue.obliterate({ force: true });
  } finally {
    await queue.close();
  }
}

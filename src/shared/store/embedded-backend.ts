import { type BackendFactory, createPostgresBackend, type IQueueBackend, type Telemetry } from 'bullmq';
import { embeddedEraseJob } from './erase-job.ts';
import { embeddedShortJobs } from './job-heads.ts';
import { createMemoryReplies } from './memory-replies.ts';
import { memoryStores } from './memory-stores.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openersOf, removeFinished } from './queue-openers.ts';
import { createMemoryTakers } from './takers.ts';

/** The queue store inside this process. */
export async function openEmbedded(telemetry: Telemetry | undefined): Promise<QueueBackend> {
  const takers = createMemoryTakers();
  // The database is loaded only by a process that uses it.
  const { startEmbeddedPostgres } = await import('./embedded-postgres.ts');
  const pool = await startEmbeddedPostgres();
  const factory: BackendFactory<IQueueBackend, unknown> = (name, options, more) =>
    createPostgresBackend(name, { ...options, connection: pool }, more);

  const replies = createMemoryReplies();
  const openers = openersOf({
    quick: factory,
    blocking: factory,
    common: telemetry ? { telemetry } : {},
    maxEvents: 2000,
    // A notification may go unnoticed; the short block makes up for it.
    eventsBlockMs: 1000,
    locks: { lockDuration: 10_000, stalledInterval: 5000 },
  });

  return {
    where: 'embedded, in this process',
    inTime: (reply) => reply, // slow at the worst: it is away only when the whole process is
    connected: Promise.resolve(),
    examined: Promise.resolve(undefined),
    probe: async () => {},
    takers,
    ...memoryStores(),
    ...openers,
    readShortJobs: embeddedShortJobs(pool),
    eraseJob: embeddedEraseJob(pool),
    openReplies: (queue, listener) => replies.open(queue.name, listener),
    tellChange: async (queue, id, replyTo) => replies.tell(queue.name, replyTo, { kind: 'changed', id }),
    openWorker(name, processor, concurrency) {
      const worker = openers.openWorker(name, processor, concurrency);
      replies.of(name, worker);
      return worker;
    },
    async removeWaiting(queue, id) {
      const job = await queue.getJob(id);
      // A job that is taken after this look is locked, and a locked one is not removed.
      return job?.attemptsStarted === 0 && (await queue.remove(id, { removeChildren: false })) === 1;
    },
    removeOld: removeFinished,
    onDisconnect: () => {},
    seesWorkers: false,
    findWorkers: async (_queue, except) => ({
      count: (await takers.list()).filter((id) => id !== except).length,
      allTell: true,
    }),
    close: () => pool.shutDown(),
  };
}

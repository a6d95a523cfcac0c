import { randomUUID } from 'node:crypto';
import { type BackendFactory, createPostgresBackend, type IQueueBackend, type Telemetry } from 'bullmq';
import { embeddedEraseJob } from './erase-job.ts';
import { embeddedShortJobs } from './job-heads.ts';
import { createMemoryReplies } from './memory-replies.ts';
import { memoryStores } from './memory-stores.ts';
import type { JobQueue, QueueBackend } from './queue-backend.ts';
import { openersOf, removeFinished } from './queue-openers.ts';
import { createMemoryTakers } from './takers.ts';

/** Where the embedded queue store keeps what it has: `tell` is given one sentence for whatever an operator should know. */
export type EmbeddedFolder = { folder: string; tell: (sentence: string) => void };

/** The queue store inside this process: in memory, or in a folder that the next process finds again. */
export async function openEmbedded(telemetry: Telemetry | undefined, kept?: EmbeddedFolder): Promise<QueueBackend> {
  const takers = createMemoryTakers();
  const { pool, where, probe, full, stores, onAdded, close } = await (kept ? openKept(kept) : openInMemory());
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
    lockMs: 10_000,
  });

  return {
    where,
    inTime: (reply) => reply, // slow at the worst: it is away only when the whole process is
    heard: () => performance.now(),
    connected: Promise.resolve(),
    examined: Promise.resolve(undefined),
    probe,
    full,
    run: runOf(randomUUID()),
    takers,
    ...stores,
    ...openers,
    openQueue<Data, Result>(name: string): JobQueue<Data, Result> {
      const queue = openers.openQueue<Data, Result>(name);
      queue.on('waiting', ({ id = '', opts }) => onAdded(id, opts));
      return queue;
    },
    readShortJobs: embeddedShortJobs(pool),
    eraseJob: embeddedEraseJob(pool),
    openReplies: (queue, listener) => replies.open(queue.name, listener),
    tellChange: async (queue, id, replyTo) => replies.tell(queue.name, replyTo, { kind: 'changed', id }),
    openWorker(name, processor, concurrency, options) {
      const worker = openers.openWorker(name, processor, concurrency, options);
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
    findWorkers: async (_queue, except) => (await takers.list()).filter((id) => id !== except).length,
    close,
  };
}

const runOf = (id: string) => ({ last: () => id, ask: async () => id });

/** The database is loaded only by a process that uses it. */
async function openInMemory() {
  const { startEmbeddedPostgres } = await import('./embedded-postgres.ts');
  const pool = await startEmbeddedPostgres();
  return {
    pool,
    where: 'embedded, in the memory of this process',
    probe: async () => {},
    full: () => null,
    // The worker and the history of this process end together.
    stores: { ...memoryStores(), openMissingRecords: () => async () => [] },
    onAdded: (_mockId: string, _options: object) => {},
    close: () => pool.shutDown(),
  };
}

async function openKept({ folder, tell }: EmbeddedFolder) {
  const { openDurableStore } = await import('./durable/durable-store.ts');
  const { embeddedMissingRecords } = await import('./durable/missing-records.ts');
  const { headIn } = await import('./job-heads.ts');
  const { pool, openShelf, ledger, room, close } = await openDurableStore({ folder, tell });
  const missing = await embeddedMissingRecords(pool);
  return {
    pool,
    where: `embedded, in ${folder}`,
    probe: async () => void (await pool.query('SELECT 1')),
    full: room.full,
    stores: { ...memoryStores(openShelf), openMissingRecords: (queue: { name: string }) => () => missing(queue.name) },
    onAdded(mockId: string, options: object) {
      const head = headIn(options);
      if (head !== null) ledger.execution(mockId, head);
    },
    close,
  };
}

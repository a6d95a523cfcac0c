import { randomUUID } from 'node:crypto';
import type { BackendFactory, IQueueBackend, Telemetry } from 'bullmq';
import { z } from 'zod';
import { type EndedJob, settledOf } from '../../contract/endings/job-ending.ts';
import { parseJson } from '../../contract/json/parse-json.ts';
import type { History } from '../history/history.ts';
import { noArrivalsElsewhere } from '../queue/arrivals.ts';
import { headIn } from '../queue/job-heads.ts';
import type { QueueBackend, ReadShortJobs, ShortJob } from '../queue/queue-backend.ts';
import { queueNames } from '../queue/queue-names.ts';
import { openersOf, removeFinished } from '../queue/queue-openers.ts';
import { createMemoryTakers } from '../queue/takers.ts';
import { createMemoryDirectory } from '../registered-directory.ts';
import { type Database, openDatabase } from './file/database.ts';
import { openStore, prepareTables } from './file/embedded-store.ts';
import { createQueues } from './queue/embedded-queue.ts';
import { createEmbeddedReplies } from './stores/replies.ts';
import { tableShelves } from './stores/shelves.ts';
import { embeddedStores } from './stores/stores.ts';

/**
 * The folder of the embedded queue store. `tell` is called with one sentence for each event that an operator should know. `flush`: whether
 * accepted calls survive a power failure.
 */
export type EmbeddedFolder = { folder: string; flush: boolean; tell: (sentence: string) => void };

/** The queue store inside this process: in memory, or in a folder that the next process finds again. */
export async function openEmbedded(telemetry: Telemetry | undefined, kept?: EmbeddedFolder): Promise<QueueBackend> {
  const takers = createMemoryTakers();
  const { database, where, full, stores, close } = await (kept ? openKept(kept) : openInMemory());
  const endings = createEndings();
  const queues = createQueues(database, { onEnd: endings.onEnd });
  const factory: BackendFactory<IQueueBackend, unknown> = (name, options) => queues.open(name, options);

  const replies = createEmbeddedReplies();
  const openers = openersOf({
    quick: factory,
    blocking: factory,
    common: telemetry ? { telemetry } : {},
    maxEvents: 2000,
    eventsBlockMs: 5000,
    lockMs: 10_000,
  });

  return {
    where,
    inTime: (reply) => reply, // slow at the worst: it is away only when the whole process is
    heard: () => performance.now(),
    connected: Promise.resolve(),
    examined: Promise.resolve(undefined),
    probe: () => database.read(() => void database.statement('SELECT 1').get()),
    full,
    run: runOf(randomUUID()),
    ...{ takers, tellArrivals: noArrivalsElsewhere, directory: createMemoryDirectory() },
    ...stores,
    ...openers,
    keepEndings: endings.keepIn,
    // The record of an execution is there as soon as its job has ended.
    openMissingRecords: () => async () => [],
    readShortJobs: embeddedShortJobs(database),
    // No event tells of it: removing it is all.
    eraseJob: async (queue, mockId) => void (await queue.remove(mockId, { removeChildren: false })),
    openReplies: (queue, listener) => replies.open(queue.name, listener),
    tellChange: async (queue, id, replyTo) => replies.tell(queue.name, replyTo, { kind: 'changed', id }),
    openWorker(name, processor, concurrency, options) {
      const process: typeof processor = (job, ...more) =>
        queues.untilTaken(name, job.id).then(() => processor(job, ...more));
      const worker = openers.openWorker(name, process, concurrency, options);
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

/** The record of an execution is added in the transaction that ends its job. What keeps it from being added, its worker hears when it adds it again. */
function createEndings() {
  let history: History | undefined;
  return {
    keepIn(kept: History): void {
      history = kept;
    },
    onEnd(queue: string, job: EndedJob): void {
      const settled = queue === queueNames.executions ? settledOf(job) : undefined;
      if (settled) history?.add(settled).catch(() => {});
    },
  };
}

const runOf = (id: string) => ({ last: () => id, ask: async () => id });

async function openInMemory() {
  const database = openDatabase();
  await prepareTables(database);
  return {
    database,
    where: 'embedded, in the memory of this process',
    full: () => null,
    stores: embeddedStores(tableShelves(database)),
    close: async () => database.close(),
  };
}

async function openKept({ folder, flush, tell }: EmbeddedFolder) {
  const { database, openShelf, room, close } = await openStore({ folder, flush, tell });
  return {
    database,
    where: `embedded, in ${folder}`,
    full: room.full,
    stores: embeddedStores(openShelf),
    close,
  };
}

const SHORT = `SELECT opts, added_at, attempts_started > 0 AS begun, progress, finished_at, return_value
FROM job WHERE queue = ? AND id = ?`;
const rowSchema = z.object({
  opts: z.string(),
  added_at: z.int(),
  begun: z.int(),
  progress: z.string().nullable(),
  finished_at: z.int().nullable(),
  return_value: z.string().nullable(),
});

function embeddedShortJobs({ read, statement }: Database): ReadShortJobs {
  return (queue, ids) => read(() => ids.map((id) => shortJob(statement(SHORT).get(queue.name, id))));
}

function shortJob(row: unknown): ShortJob | null {
  if (row === undefined) return null;
  const { opts, added_at, begun, progress, finished_at, return_value } = rowSchema.parse(row);
  return {
    head: headIn(parseJson(opts)),
    timestamp: added_at,
    begun: begun === 1,
    progress: parseJson(progress ?? ''),
    finishedOn: finished_at,
    returnvalue: parseJson(return_value ?? ''),
  };
}

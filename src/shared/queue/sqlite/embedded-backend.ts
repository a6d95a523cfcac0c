import { randomUUID } from 'node:crypto';
import {
  type BackendFactory,
  type Queue as BullQueue,
  type IQueueBackend,
  QueueEvents,
  type QueueEventsListener,
  QueueEventsProducer,
  type Telemetry,
} from 'bullmq';
import { z } from 'zod';
import type { EndedJob } from '../../contract/endings/job-ending.ts';
import { parseJson } from '../../contract/json/parse-json.ts';
import { type Database, openDatabase } from '../../store/embedded/file/database.ts';
import { openStore, prepareTables } from '../../store/embedded/file/embedded-store.ts';
import { headIn } from '../../store/embedded/file/job-tables.ts';
import { tableShelves } from '../../store/embedded/stores/shelves.ts';
import { embeddedStores } from '../../store/embedded/stores/stores.ts';
import { createMemoryDirectory } from '../../store/registered-directory.ts';
import { noArrivalsElsewhere } from '../arrivals.ts';
import type { Records, ShortJob } from '../queue.ts';
import type { QueueBackend } from '../queue-backend.ts';
import type { BesideBullmq } from '../redis/beside-bullmq.ts';
import { type BullQueueParts, openBullQueue } from '../redis/bull-queue.ts';
import { type BullWorkerParts, openBullWorker } from '../redis/bull-worker.ts';
import { createMemoryTakers } from '../takers.ts';
import { createQueues } from './embedded-queue.ts';
import { createEmbeddedReplies } from './replies.ts';

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
  const common = telemetry ? { telemetry } : {};
  const queueParts: BullQueueParts = {
    ...{ factory, common, maxEvents: 2000 },
    beside: (queue) => besideEmbedded(database, queue),
    openReplies: ({ name }, listener) => replies.open(name, listener),
    tellChange: async ({ name }, id, replyTo) => replies.tell(name, replyTo, { kind: 'changed', id }),
  };
  const workerParts: BullWorkerParts = {
    ...{ factory, common, lockMs: 10_000 },
    news: ({ name }) => ({
      ending: () => undefined,
      publish: async (ended) => replies.ended(name, ended),
      changed: async (id) => replies.progress(name, id),
    }),
  };

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
    openQueue: (name, options) => openBullQueue(name, queueParts, options),
    openWorker(name, process, options) {
      if (options.records) endings.keep(name, options.records);
      const begin: typeof process = (job) => queues.untilTaken(name, job.id).then(() => process(job));
      return openBullWorker(name, begin, workerParts, options);
    },
    openSender(name, maxKept) {
      const producer = new QueueEventsProducer(name, { connection: undefined }, factory);
      return {
        send: (message) => producer.publishEvent({ eventName: 'message', ...message }, maxKept),
        close: () => producer.close(),
      };
    },
    listen(name, onMessage, { fromStart = false } = {}) {
      const from = fromStart && { lastEventId: '0' };
      const events = new QueueEvents(name, { connection: undefined, blockingTimeout: 5000, ...from }, factory);
      events.on('error', () => {});
      events.on<MessageListener, 'message'>('message', onMessage);
      return { close: () => events.close() };
    },
    seesWorkers: false,
    findWorkers: async (except) => (await takers.list()).filter((id) => id !== except).length,
    close,
  };
}

interface MessageListener extends QueueEventsListener {
  message: (message: unknown, id: string) => void;
}

/** The record of an execution is added in the transaction that ends its job. What keeps it from being added, its worker hears when it adds it again. */
function createEndings() {
  const kept = new Map<string, Records>();
  return {
    keep: (queue: string, records: Records) => void kept.set(queue, records),
    onEnd(queue: string, ended: EndedJob): void {
      const records = kept.get(queue);
      const settled = records?.settledOf(ended);
      if (settled) records?.add(settled).catch(() => {});
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

const ENDED = 'SELECT finished_at, return_value FROM job WHERE queue = ? AND id = ?';
const endedSchema = z.object({ finished_at: z.int().nullable(), return_value: z.string().nullable() });

function besideEmbedded(
  { read, statement }: Database,
  queue: Pick<BullQueue, 'name' | 'getJob' | 'remove'>,
): BesideBullmq {
  return {
    lookUp: (id) =>
      read(() => {
        const row = statement(ENDED).get(queue.name, id);
        if (row === undefined) return { kind: 'missing' };
        const { finished_at, return_value } = endedSchema.parse(row);
        return finished_at === null ? { kind: 'open' } : { kind: 'ended', value: parseJson(return_value ?? 'null') };
      }),
    readShort: (ids) => read(() => ids.map((id) => shortJob(statement(SHORT).get(queue.name, id)))),
    async removeWaiting(id) {
      const job = await queue.getJob(id);
      // A job that is taken after this look is locked, and a locked one is not removed.
      return job?.attemptsStarted === 0 && (await queue.remove(id, { removeChildren: false })) === 1;
    },
    eraseEvents: async () => {}, // none tells of a job
    trimEvents: async () => {},
    missingRecords: async () => [], // the record of an execution is there as soon as its job has ended
  };
}

function shortJob(row: unknown): ShortJob | null {
  if (row === undefined) return null;
  const { opts, added_at, begun, progress, finished_at, return_value } = rowSchema.parse(row);
  return {
    head: headIn(opts),
    addedAt: added_at,
    begun: begun === 1,
    progress: parseJson(progress ?? ''),
    endedAt: finished_at,
    value: parseJson(return_value ?? 'null'),
  };
}

import { type BackendFactory, Queue as BullQueue, type IQueueBackend, type Telemetry } from 'bullmq';
import { KEEP_ENDED_MS, type Queue, type Replies, type ReplyListener, type WholeJob } from '../queue.ts';
import type { QueueOptions } from '../queue-backend.ts';
import type { BesideBullmq } from './beside-bullmq.ts';

const CLEANED_AT_ONCE = 1000;

const KEEP = { age: KEEP_ENDED_MS / 1000 };
export const finishedJobs = { removeOnComplete: KEEP, removeOnFail: KEEP };

type Bull = BullQueue<unknown, unknown, string, unknown, unknown, string, IQueueBackend, unknown>;

export type BullQueueParts = {
  factory: BackendFactory<IQueueBackend, unknown>;
  common: { prefix?: string; telemetry?: Telemetry };
  maxEvents: number;
  beside(queue: Pick<BullQueue, 'toKey'>): BesideBullmq;
  openReplies(queue: Pick<BullQueue, 'toKey'>, listener: ReplyListener): Replies;
  tellChange(queue: Pick<BullQueue, 'toKey'>, id: string, replyTo: string | undefined): Promise<void>;
};

/** A queue of BullMQ, by its documented interface and what is beside it. */
export function openBullQueue<Data>(name: string, parts: BullQueueParts, options: QueueOptions = {}): Queue<Data> {
  const { factory, common, maxEvents } = parts;
  const { onError = () => {}, onDisconnect } = options;
  const queue: Bull = new BullQueue(
    name,
    { ...common, connection: undefined, defaultJobOptions: finishedJobs, streams: { events: { maxLen: maxEvents } } },
    factory, // which brings its own connection
  );
  queue.on('error', onError);
  if (onDisconnect) queue.on('ioredis:close', onDisconnect);
  const beside = parts.beside(queue);

  return {
    name,
    async add(id, data, { head } = {}) {
      const more = { jobId: id, ...(head !== undefined && { head }) }; // BullMQ keeps options that it does not know
      await queue.add('job', data, more);
    },
    lookUp: beside.lookUp,
    read: (id) => read(queue, id),
    readShort: beside.readShort,
    listOpen: (count = 0) => queue.getRanges(['active', 'waiting', 'delayed'], 0, count - 1),
    async count() {
      const { wait = 0, delayed = 0, active = 0 } = await queue.getJobCounts('wait', 'delayed', 'active');
      return { waiting: wait, snoozed: delayed, taken: active };
    },
    removeWaiting: beside.removeWaiting,
    async erase(id) {
      await queue.remove(id, { removeChildren: false });
      await beside.eraseEvents(id);
    },
    async removeOld(olderThanMs) {
      await queue.clean(olderThanMs, CLEANED_AT_ONCE, 'completed');
      await beside.trimEvents(olderThanMs);
    },
    missingRecords: beside.missingRecords,
    openReplies: (listener) => parts.openReplies(queue, listener),
    tellChange: (id, replyTo) => parts.tellChange(queue, id, replyTo),
    close: () => queue.close(),
  };
}

async function read(queue: Bull, id: string): Promise<WholeJob | null> {
  const job = await queue.getJob(id);
  if (!job) return null;
  const { data, timestamp, attemptsStarted, processedOn, progress, finishedOn, returnvalue } = job;
  return {
    data,
    addedAt: timestamp,
    begun: attemptsStarted > 0 || processedOn !== undefined,
    progress,
    endedAt: finishedOn ?? null,
    value: returnvalue ?? null,
  };
}

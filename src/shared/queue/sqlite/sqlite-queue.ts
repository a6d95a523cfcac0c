import type { Telemetry } from 'bullmq';
import type { EndedJob } from '../../contract/execution-record.ts';
import { type Timer, time } from '../../ports/time.ts';
import { RETRY_MS } from '../../runtime/async.ts';
import type { Database } from '../../store/embedded/file/database.ts';
import {
  type Finished,
  KEEP_ENDED_MS,
  type OpenWorker,
  type Queue,
  type QueueWorker,
  type TakenJob,
  type WorkerOptions,
} from '../queue.ts';
import { addRecord, type JobCommands, openTakenJob } from '../taken-job.ts';
import { createJobTable, type JobTable, type TakenRow } from './job-table.ts';
import type { EmbeddedReplies } from './replies.ts';

type Parts = { database: Database; replies: EmbeddedReplies; telemetry: Telemetry | undefined };
type Shared = { table: JobTable; wakes: Set<() => void> };

/** The job is gone, or nobody has it. */
class NotTaken extends Error {}

/**
 * The queues of a database, and their workers. Both are in one process, so a worker's jobs need no locks: whoever had one before this process began
 * ended with its process, and jobs that were taken then wait again since the start. What wakes a worker happens after the commit.
 */
export function createSqliteQueues(parts: Parts): {
  openQueue<Data>(name: string): Queue<Data>;
  openWorker: OpenWorker;
} {
  const { database } = parts;
  const shared = new Map<string, Shared>();
  const of = (name: string): Shared => {
    const known = shared.get(name) ?? { table: createJobTable(database, name), wakes: new Set() };
    shared.set(name, known);
    return known;
  };
  return {
    openQueue: (name) => openQueue(name, of(name), parts),
    openWorker: (name, process, options) => openWorker(name, process, { ...parts, ...of(name), options }),
  };
}

/** Changes jobs. Workers are woken once that is committed, so that adding a job and taking it share one flush. */
async function change(
  { database, wakes }: Pick<Parts, 'database'> & Pick<Shared, 'wakes'>,
  operation: () => unknown,
): Promise<void> {
  await database.write(operation, 'committed');
  for (const wake of [...wakes]) wake();
  await database.flushed();
}

function openQueue<Data>(name: string, { table, wakes }: Shared, { database, replies, telemetry }: Parts): Queue<Data> {
  const { read, write } = database;
  return {
    name,
    async add(id, data, { head = null } = {}) {
      const trace = telemetry?.contextManager.getMetadata(telemetry.contextManager.active()) ?? null;
      const job = { id, data: JSON.stringify(data), head, trace, at: time.now() };
      await change({ database, wakes }, () => table.add(job));
    },
    lookUp: (id) => read(() => table.lookUp(id)),
    read: (id) => read(() => table.read(id)),
    readShort: (ids) => read(() => ids.map(table.readShort)),
    listOpen: (count) => read(() => table.open(count)),
    count: () => read(table.count, 'committed'),
    removeWaiting: (id) => write(() => table.removeWaiting(id)),
    erase: async (id) => void (await write(() => table.erase(id))),
    removeOld: async (olderThanMs) => void (await write(() => table.removeOld(time.now() - olderThanMs))),
    missingRecords: async () => [], // ending and record are one transaction
    openReplies: (listener) => replies.open(name, listener),
    tellChange: async (id, replyTo) => replies.tell(name, replyTo, { kind: 'changed', id }),
    close: async () => {},
  };
}

type WorkerParts = Parts & Shared & { options: WorkerOptions };

/** A worker takes a job without waiting for the disk, and begins it once its taking is flushed. Meanwhile it takes others. */
function openWorker(name: string, process: Process, parts: WorkerParts): QueueWorker {
  const { database, table, wakes, options } = parts;
  const { concurrency, onError = () => {} } = options;
  const open = new Set<Promise<void>>();
  let state: 'idle' | 'running' | 'closing' = 'idle';
  let taking: Promise<void> | undefined;
  /** There may be more since it began to take. */
  let again = false;
  let timer: Timer | undefined;

  /** Takes what it may have. Asked whenever there may be more: a job was added or given back, ended here, or is due. */
  function takeMore(): void {
    time.clearTimeout(timer);
    if (state !== 'running' || open.size >= concurrency) return;
    if (taking) again = true;
    else
      taking = take().finally(() => {
        taking = undefined;
        if (again) takeMore();
      });
  }

  async function take(): Promise<void> {
    again = false;
    try {
      const [rows, dueAt] = await database.write(
        () => [table.take(concurrency - open.size, time.now()), table.nextDueAt()] as const,
        'committed',
      );
      for (const row of rows) {
        const job = takenJob(name, row, parts, () => state === 'closing');
        keepWhileOpen(open, handle(job, row.trace, process, parts), takeMore);
      }
      if (rows.length > 0) again = true;
      else if (dueAt !== undefined) timer = time.setTimeout(takeMore, Math.max(1, dueAt - time.now()));
    } catch (error) {
      onError(error);
      timer = time.setTimeout(takeMore, RETRY_MS);
    }
  }

  return {
    run() {
      if (state === 'closing') return;
      state = 'running';
      wakes.add(takeMore);
      takeMore();
    },
    async pause() {
      if (state === 'running') state = 'idle';
      await taking;
    },
    async close() {
      state = 'closing';
      wakes.delete(takeMore);
      time.clearTimeout(timer);
      await taking;
      await Promise.all(open);
    },
  };
}

function keepWhileOpen(open: Set<Promise<void>>, task: Promise<void>, onEnd: () => void): void {
  const kept = task.finally(() => {
    open.delete(kept);
    onEnd();
  });
  open.add(kept);
}

type Process = (job: TakenJob) => Promise<unknown>;

/** Processes a job once it is sure that it was taken. */
async function handle(job: TakenJob, trace: string | null, process: Process, parts: WorkerParts): Promise<void> {
  const { database, telemetry, options } = parts;
  try {
    await database.flushed();
  } catch (error) {
    options.onError?.(error);
    return job.snooze(RETRY_MS);
  }
  try {
    await inTrace(telemetry, trace, () => process(job));
  } catch (error) {
    options.onDefect?.(job.id, error);
    await job.finish(null);
  }
}

/** Goes on in the trace of whoever added the job. */
function inTrace<T>(telemetry: Telemetry | undefined, trace: string | null, run: () => Promise<T>): Promise<T> {
  if (!telemetry || trace === null) return run();
  const { contextManager } = telemetry;
  return contextManager.with(contextManager.fromMetadata(contextManager.active(), trace), run);
}

function takenJob(name: string, row: TakenRow, parts: WorkerParts, isOver: () => boolean): TakenJob {
  const { database, table, wakes, replies, options } = parts;
  const { records, onError = () => {} } = options;
  const { id, data, added_at: addedAt } = row;
  const update = (operation: () => boolean) => database.write(() => mustBe(operation()), 'committed');

  const commands: JobCommands = {
    async complete(value): Promise<Finished> {
      const endedAt = time.now();
      const ended: EndedJob = { id, data, addedAt, endedAt, value };
      const settled = records?.settledOf(ended);
      let recorded = Promise.resolve(false);
      await database.write(() => {
        mustBe(table.end(id, JSON.stringify(value ?? null), endedAt));
        table.removeOldNowAndThen(endedAt - KEEP_ENDED_MS, endedAt);
        // It begins at once, so it is part of this transaction.
        recorded = addRecord(records, settled);
      });
      const isRecorded = await recorded;
      replies.ended(name, ended);
      return { kind: 'finished', settled, isRecorded };
    },
    giveBack: () => change({ database, wakes }, () => mustBe(table.giveBack(id))),
    snooze: (ms) => change({ database, wakes }, () => mustBe(table.snooze(id, time.now() + ms))),
    setProgress: (progress) => update(() => table.setProgress(id, JSON.stringify(progress))),
    replaceData: (changed) => update(() => table.setData(id, JSON.stringify(changed))),
  };
  const own = { id, data, addedAt, isFirstDelivery: row.takes <= 1, progress: row.progress };
  const isLost = (error: unknown) => error instanceof NotTaken;
  const news = {
    ending: () => undefined,
    publish: async () => {},
    changed: async () => replies.tell(name, undefined, { kind: 'changed', id }),
  };
  return openTakenJob(own, commands, { records, news, isLost, onError, isOver });
}

function mustBe(isSo: boolean): void {
  if (!isSo) throw new NotTaken();
}

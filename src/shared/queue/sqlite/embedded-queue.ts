import {
  ErrorCode,
  type IQueueBackend,
  type JobJson,
  type JobProgress,
  type JobState,
  type JobType,
  type KeepJobs,
  type KeysMap,
  type MinimalJob,
  type MoveToDelayedOpts,
  type QueueBaseOptions,
  type RetryJobOpts,
  type StreamReadRaw,
  type WorkerOptions,
} from 'bullmq';
import type { EndedJob } from '../../contract/endings/job-ending.ts';
import type { Database, Sureness } from '../../store/embedded/file/database.ts';
import { createJobLocks, type JobLocks } from './job-locks.ts';
import { createJobTable, type Finished, type JobTable, jobJson, typeOf } from './job-table.ts';
import { createMessages, type Messages } from './messages.ts';
import { missing, notActive, refusal, UnsupportedOperations, unsupported } from './refused-operations.ts';
import { createWaits } from './waits.ts';

/** The state that all parts of one queue in this process share. `takes`: when the taking of a job outlives a loss of power. */
type Shared = {
  table: JobTable;
  locks: JobLocks;
  messages: Messages;
  waiting: Set<() => void>;
  takes: Map<string, Promise<void>>;
};
/** What else belongs to the transaction that ends a job. What it throws keeps the job from ending. */
type Listeners = { onEnd?: (queue: string, job: EndedJob) => void };
type Queues = { database: Database; of(name: string): Shared; listeners: Listeners };

type Next = [JobJson | null, string, number, number];
type Options = QueueBaseOptions<unknown> &
  Partial<
    Pick<
      WorkerOptions,
      'name' | 'lockDuration' | 'stalledInterval' | 'maxStalledCount' | 'removeOnComplete' | 'removeOnFail' | 'limiter'
    >
  >;
type Job = Pick<MinimalJob<unknown, unknown, string>, 'id' | 'data' | 'timestamp'>;
type Changing = { wakes?: boolean; until?: Sureness; done?: () => void; undone?: () => void };
type GivenBack = { token: string; attempts: number; isFirst: boolean; command: string } & {
  fieldsToUpdate?: Record<string, unknown> | undefined;
};
type Keep = boolean | number | KeepJobs | undefined;

/** The token of who asks without one. */
const ANYBODY = '0';
const LOCK_MS = 30_000;
const STALLED_EVERY_MS = 30_000;
const MAX_MESSAGES = 1000;

/** The queues of a database, for BullMQ. */
export function createQueues(database: Database, listeners: Listeners = {}) {
  const shared = new Map<string, Shared>();
  const queues: Queues = {
    database,
    listeners,
    of(name) {
      const known = shared.get(name);
      if (known) return known;
      const made = {
        ...{ table: createJobTable(database, name), locks: createJobLocks(), messages: createMessages() },
        ...{ waiting: new Set<() => void>(), takes: new Map<string, Promise<void>>() },
      };
      shared.set(name, made);
      return made;
    },
  };
  return {
    open: (name: string, options: QueueBaseOptions<unknown>): IQueueBackend => new EmbeddedQueue(queues, name, options),
    /**
     * Resolves once it outlives a loss of power that a job was taken. Whoever processes it has to wait for that, and takes other jobs
     * meanwhile.
     */
    async untilTaken(name: string, id = ''): Promise<void> {
      const { takes } = queues.of(name);
      const taken = takes.get(id);
      takes.delete(id);
      await taken;
    },
  };
}

/** BullMQ's view of one queue in the database of this process. What wakes a worker happens after the commit. */
class EmbeddedQueue extends UnsupportedOperations implements IQueueBackend {
  readonly #queues: Queues;
  readonly #name: string;
  readonly #options: Options;
  readonly #shared: Shared;
  readonly #table: JobTable;
  readonly #waitsForJobs;
  readonly #waitsForMessages;
  closing: Promise<void> | undefined;
  #isInterrupted = false;

  constructor(queues: Queues, name: string, options: Options) {
    super();
    if (options.limiter !== undefined) throw unsupported('limiter');
    this.#queues = queues;
    this.#name = name;
    this.#options = options;
    this.#shared = queues.of(name);
    this.#table = this.#shared.table;
    this.#waitsForJobs = createWaits(this.#shared.waiting);
    this.#waitsForMessages = createWaits(this.#shared.messages.waiting);
  }

  #read<T>(look: () => T, until: Sureness = 'flushed'): Promise<T> {
    return this.#queues.database.read(look, until);
  }
  /** Changes jobs. Once that is committed: `done`, and those that wait for a job are woken. Where it cannot be committed: `undone`. */
  async #change<T>(operation: () => T, { wakes = false, until = 'flushed', done, undone }: Changing = {}): Promise<T> {
    const { database } = this.#queues;
    const result = await database.write(operation, 'committed').catch((error) => {
      undone?.();
      throw error;
    });
    done?.();
    if (wakes) for (const wake of [...this.#shared.waiting]) wake();
    if (until === 'flushed') await database.flushed();
    return result;
  }

  // The connection: there is none.
  waitUntilReady = async (): Promise<void> => {};
  setName = async (): Promise<void> => {};
  readonly keys: KeysMap = {};
  readonly minimumBlockTimeout = 0.001;
  get qualifiedName(): string {
    return this.#name;
  }
  toKey = (type: string): string => `${this.#name}:${type}`;
  clientName = (suffix = ''): string => `${this.#name}${suffix}`;
  forQueue = (name: string): IQueueBackend => new EmbeddedQueue(this.#queues, name, this.#options);
  parseNodeKey(key: string) {
    const at = key.lastIndexOf(':');
    return { prefix: '', queueName: key.slice(0, at), id: key.slice(at + 1) };
  }
  close(): Promise<void> {
    this.closing ??= this.disconnect();
    return this.closing;
  }
  async disconnect(): Promise<void> {
    this.#waitsForJobs.end();
    this.#waitsForMessages.end();
  }
  async disconnectBlocking(): Promise<void> {
    this.#isInterrupted = true;
    this.#waitsForJobs.end();
  }
  async reconnectBlocking(): Promise<void> {
    this.#isInterrupted = false;
  }

  // Adding.
  addJob(job: JobJson, jobId: string): Promise<string> {
    return this.#change(() => this.#add(job, jobId), { wakes: true });
  }
  addJobs(entries: { job: JobJson; jobId: string }[]): Promise<string[]> {
    return this.#change(() => entries.map(({ job, jobId }) => this.#add(job, jobId)), { wakes: true });
  }
  #add(job: JobJson, jobId: string): string {
    if (job.parentKey !== undefined) throw unsupported('parent');
    if (job.deduplicationId !== undefined) throw unsupported('deduplication');
    const id = jobId || job.id || this.#table.nextId();
    const delay = job.delay ?? job.opts.delay ?? 0;
    const priority = job.priority ?? job.opts.priority ?? 0;
    const addedAt = job.timestamp ?? Date.now();
    this.#table.add({
      ...{ id, name: job.name, data: job.data, opts: job.opts, addedAt, isFirst: job.opts.lifo === true && !priority },
      ...{ priority, dueAt: delay > 0 ? addedAt + delay : null },
    });
    return id;
  }

  // Taking and ending.
  moveToActive(token: string): Promise<Next> {
    const taken: string[] = [];
    const { takes } = this.#shared;
    const flush = (id: string) => {
      const flushed = this.#queues.database.flushed();
      flushed.catch(() => {}); // whoever processes the job is told
      takes.set(id, flushed);
    };
    return this.#change(() => this.#takeNext(token, taken), {
      until: 'committed',
      done: () => taken.forEach(flush),
      undone: () => this.#letGo(taken, token),
    });
  }
  #letGo(ids: readonly string[], token: string): void {
    for (const id of ids) this.#shared.locks.release(id, token);
  }
  /** Takes the next job and locks it for this worker. `taken` gets its id, so that a failed commit can release the lock. */
  #takeNext(token: string, taken: string[]): Next {
    const { table, locks } = this.#shared;
    const now = Date.now();
    const dueAt = table.nextDueAt();
    if (dueAt !== undefined && dueAt <= now) table.promoteDue(now);
    const row = table.isPaused() ? undefined : table.take(now, this.#options.name ?? null);
    if (!row) return [null, '', 0, table.nextDueAt() ?? 0];
    const job = jobJson(row);
    // BullMQ fails a job that carries this.
    if ((job.stalledCounter ?? 0) > (this.#options.maxStalledCount ?? Number.POSITIVE_INFINITY))
      job.deferredFailure = 'job stalled more than allowable limit';
    locks.acquire(job.id, token, this.#options.lockDuration ?? LOCK_MS);
    taken.push(job.id);
    return [job, job.id, 0, 0];
  }
  moveToCompleted(job: Job, value: unknown, keep: Keep, token: string, fetchNext: boolean) {
    const returnValue = JSON.stringify(value ?? null);
    const ending = { state: 'completed', returnValue, reason: null, stacktrace: null } as const;
    const howToGoOn = { keep: keep ?? this.#options.removeOnComplete, token, fetchNext };
    return this.#finish({ job, value }, ending, howToGoOn);
  }
  moveToFailed(
    job: Job,
    reason: string,
    keep: Keep,
    token: string,
    fetchNext: boolean,
    fields?: Record<string, unknown>,
  ) {
    const stacktrace = typeof fields?.stacktrace === 'string' ? fields.stacktrace : null;
    const ending = { state: 'failed', returnValue: null, reason, stacktrace } as const;
    const howToGoOn = { keep: keep ?? this.#options.removeOnFail, token, fetchNext };
    return this.#finish({ job, value: null }, ending, howToGoOn);
  }
  async #finish(
    { job: { id = '', data, timestamp }, value }: { job: Job; value: unknown },
    ending: Omit<Finished, 'at'>,
    { keep, token, fetchNext }: { keep: Keep; token: string; fetchNext: boolean },
  ): Promise<{ result: Next | undefined; finishedOn: number }> {
    const at = Date.now();
    const taken: string[] = [];
    const finish = () => {
      this.#mustHold(id, token, 'moveToFinished');
      if (!this.#table.finish(id, { ...ending, at })) throw notActive(id, 'moveToFinished');
      this.#removeBeyond(keep, id, { state: ending.state, at });
      const result = fetchNext && this.closing === undefined ? this.#takeNext(token, taken) : undefined;
      this.#queues.listeners.onEnd?.(this.#name, { id, data, addedAt: timestamp, endedAt: at, value });
      return { result, finishedOn: at };
    };
    return this.#change(finish, { done: () => this.#letGo([id], token), undone: () => this.#letGo(taken, token) });
  }
  #removeBeyond(keep: Keep, id: string, { state, at }: Pick<Finished, 'state' | 'at'>): void {
    const count =
      typeof keep === 'number' ? keep : typeof keep === 'object' && 'count' in keep ? keep.count : undefined;
    const age = typeof keep === 'object' && 'age' in keep ? keep.age : undefined;
    if (keep === true || count === 0 || age === 0) return void this.#table.remove(id);
    if (age !== undefined) this.#table.removeOld(state, age, at);
    if (count !== undefined) this.#table.removeAllBut(state, count);
  }
  /** Throws, as BullMQ does on Redis, unless the job is this worker's. */
  #mustHold(id: string, token: string, command: string): void {
    const holder = this.#shared.locks.holderOf(id);
    if (holder === token) return;
    const state = this.#table.stateOf(id);
    if (state === undefined) throw missing(id, command);
    if (token === ANYBODY && state === 'active') return;
    if (state !== 'active') throw notActive(id, command);
    if (holder === undefined) throw refusal(ErrorCode.JobLockNotExist, `Missing lock for job ${id}. ${command}`);
    throw refusal(ErrorCode.JobLockMismatch, `Lock mismatch for job ${id}. Cmd ${command} from active`);
  }

  // Giving back.
  async moveToDelayed(id: string, timestamp: number, delay: number, token = ANYBODY, options: MoveToDelayedOpts = {}) {
    const { skipAttempt = false, fetchNext = false, fieldsToUpdate } = options;
    const taken: string[] = [];
    const move = () => {
      this.#mustHold(id, token, 'moveToDelayed');
      if (!this.#table.delay(id, timestamp + delay, skipAttempt ? 0 : 1)) throw notActive(id, 'moveToDelayed');
      this.#setFailure(id, fieldsToUpdate);
      return fetchNext && this.closing === undefined ? this.#takeNext(token, taken) : undefined;
    };
    const done = () => this.#shared.locks.release(id);
    const next = await this.#change(move, { wakes: true, done, undone: () => this.#letGo(taken, token) });
    return next?.[0] ? next : [];
  }
  moveJobFromActiveToWait(id: string, token = ANYBODY): Promise<number> {
    return this.#giveBack(id, { token, attempts: 0, isFirst: true, command: 'moveJobFromActiveToWait' }).then(() => 0);
  }
  retryJob(
    id: string,
    lifo: boolean | undefined,
    token = ANYBODY,
    { fieldsToUpdate }: RetryJobOpts = {},
  ): Promise<void> {
    return this.#giveBack(id, { token, attempts: 1, isFirst: lifo === true, command: 'retryJob', fieldsToUpdate });
  }
  #setFailure(id: string, { failedReason, stacktrace }: Record<string, unknown> = {}): void {
    const text = (value: unknown) => (typeof value === 'string' ? value : null);
    if (failedReason !== undefined || stacktrace !== undefined)
      this.#table.setFailure(id, text(failedReason), text(stacktrace));
  }
  #giveBack(id: string, { token, attempts, isFirst, command, fieldsToUpdate }: GivenBack): Promise<void> {
    const give = () => {
      this.#mustHold(id, token, command);
      if (attempts > 0) this.#table.promoteDue(Date.now()); // a retry comes behind what is due
      if (!this.#table.giveBack(id, { attempts, isFirst })) throw notActive(id, command);
      this.#setFailure(id, fieldsToUpdate);
    };
    return this.#change(give, { wakes: true, done: () => this.#shared.locks.release(id) });
  }
  async moveStalledJobsToWait(): Promise<string[]> {
    const { table, locks } = this.#shared;
    const active = await this.#read(table.active, 'committed');
    const stalled = locks.check(active, this.#options.stalledInterval ?? STALLED_EVERY_MS);
    if (stalled.length === 0) return [];
    return this.#change(() => stalled.filter((id) => table.giveBack(id, { stalled: 1 })), { wakes: true });
  }
  promote(id: string): Promise<void> {
    return this.#change(
      () => {
        if (this.#table.promote(id)) return;
        if (this.#table.stateOf(id) === undefined) throw missing(id, 'promote');
        throw refusal(ErrorCode.JobNotInState, `Job ${id} is not in the delayed state. promote`);
      },
      { wakes: true },
    );
  }
  promoteJobs(): Promise<number> {
    return this.#change(() => this.#table.promoteDue(Number.MAX_SAFE_INTEGER), { wakes: true }).then(() => 0);
  }

  // Locks.
  async extendLock(id: string, token: string, ms: number): Promise<number> {
    return this.#shared.locks.extend(id, token, ms) ? 1 : 0;
  }
  async extendLocks(ids: string[], tokens: string[], ms: number): Promise<string[]> {
    return ids.filter((id, at) => !this.#shared.locks.extend(id, tokens[at] ?? '', ms));
  }

  // Changes.
  updateData(job: Job, data: unknown): Promise<void> {
    return this.#update(job.id ?? '', 'updateData', (id) =>
      this.#table.setData(id, JSON.stringify(data === undefined ? {} : data)),
    );
  }
  updateProgress(id: string, progress: JobProgress): Promise<void> {
    return this.#update(id, 'updateProgress', () => this.#table.setProgress(id, JSON.stringify(progress ?? null)));
  }
  #update(id: string, command: string, update: (id: string) => boolean): Promise<void> {
    return this.#change(
      () => {
        if (!update(id)) throw missing(id, command);
      },
      { until: 'committed' },
    );
  }
  /** 0 when somebody works on it. */
  remove(id: string): Promise<number> {
    return this.#change(() => {
      if (this.#shared.locks.holderOf(id) !== undefined) return 0;
      this.#table.remove(id);
      return 1;
    });
  }
  async pause(isPaused: boolean): Promise<void> {
    const table = this.#table;
    await this.#change(() => (isPaused ? table.setMeta('paused', '1') : table.removeMeta('paused')), { wakes: true });
  }
  async drain(isDelayedToo: boolean): Promise<void> {
    const types: JobType[] = ['wait', 'prioritized', ...(isDelayedToo ? (['delayed'] as const) : [])];
    await this.#change(() => types.map((type) => this.#table.clean(type, Number.MAX_SAFE_INTEGER)));
  }
  cleanJobsByState(state: string, until: number, limit = 0): Promise<string[]> {
    const isKept = (id: string) => this.#shared.locks.holderOf(id) !== undefined;
    return this.#change(() => this.#table.clean(typeOf(state), until, { limit, isKept }));
  }
  async obliterate({ force }: { force: boolean }): Promise<number> {
    const obliterate = () => {
      if (!this.#table.isPaused()) throw new Error('Cannot obliterate non-paused queue');
      if (!force && this.#table.count('active') > 0) throw new Error('Cannot obliterate queue with active jobs');
      this.#table.removeAll();
      this.#table.removeAllMeta();
    };
    const { locks, messages } = this.#shared;
    await this.#change(obliterate, { done: () => locks.releaseAll() });
    messages.trim(0);
    return 0;
  }

  // Questions.
  getState(id: string): Promise<JobState | 'unknown'> {
    return this.#read(() => this.#table.stateOf(id) ?? 'unknown');
  }
  isFinished(id: string, withValue?: boolean): Promise<number | [number, string]> {
    return this.#read(() => {
      const [status, value] = this.#endingOf(id);
      return withValue ? [status, value] : status;
    });
  }
  #endingOf(id: string): [number, string] {
    const row = this.#table.ending(id);
    if (!row) return [ErrorCode.JobNotExist, `Missing key for job ${this.toKey(id)}. isFinished`];
    if (row.state === 'completed') return [1, String(row.return_value ?? 'null')];
    return row.state === 'failed' ? [2, String(row.failed_reason ?? '')] : [0, ''];
  }
  isMaxed = async (): Promise<boolean> => false;
  isJobInState(state: string, id: string): Promise<boolean> {
    return this.#read(() => this.#table.isIn(typeOf(state), id));
  }
  getJobData(id: string): Promise<JobJson | undefined> {
    return this.#read(() => {
      const row = this.#table.find(id);
      return row && jobJson(row);
    });
  }
  getCounts(types: JobType[], dueBefore?: number): Promise<number[]> {
    return this.#read(
      () =>
        types.map((type) =>
          type === 'delayed' && dueBefore !== undefined ? this.#table.countDue(dueBefore) : this.#table.count(type),
        ),
      'committed',
    );
  }
  getCountsPerPriority(priorities: number[]): Promise<number[]> {
    return this.#read(() => priorities.map((priority) => this.#table.countOf(priority)));
  }
  getRanges(types: JobType[], first = 0, last = -1, ascending = false): Promise<[string][]> {
    // The type says that there is one id in each; BullMQ reads as many as there are.
    const ranges = () => types.map((type) => this.#table.range(type, { first, last, ascending }) as [string]);
    return this.#read(ranges);
  }

  // The queue's own values.
  async setQueueMeta(values: Record<string, string | number>): Promise<number> {
    if ('concurrency' in values || 'max' in values) throw unsupported('limits');
    return this.#change(() => {
      const known = this.#table.meta();
      const changed = Object.entries(values).filter(([field, value]) => known[field] !== String(value));
      for (const [field, value] of changed) this.#table.setMeta(field, String(value));
      return changed.length;
    });
  }
  getQueueMeta = (): Promise<Record<string, string>> => this.#read(this.#table.meta);
  getQueueMetaField = async (field: string): Promise<string | null> => (await this.getQueueMeta())[field] ?? null;
  async getQueueMetaFields(fields: string[]): Promise<(string | null)[]> {
    const meta = await this.getQueueMeta();
    return fields.map((field) => meta[field] ?? null);
  }
  hasQueueMetaField = async (field: string): Promise<boolean> => field in (await this.getQueueMeta());
  async removeQueueMetaFields(fields: string[]): Promise<number> {
    const removed = await this.#change(() => fields.map((field) => this.#table.removeMeta(field)));
    return removed.reduce((sum, each) => sum + each, 0);
  }

  // Messages. What happens to jobs is told to nobody here: endings go straight to who asked (`replies.ts`).
  async publishEvent(fields: Record<string, string | number>, atMost = MAX_MESSAGES): Promise<string> {
    return this.#shared.messages.publish(fields, atMost);
  }
  async trimEvents(atMost: number): Promise<number> {
    return this.#shared.messages.trim(atMost);
  }
  async readEvents(id: string, blockMs: number): Promise<StreamReadRaw> {
    const { messages } = this.#shared;
    const seen = id === '$' ? messages.last() : Number(id.split('-')[0]);
    if (messages.after(seen).length === 0 && this.closing === undefined) await this.#waitsForMessages.wait(blockMs);
    const found = messages.after(seen);
    if (found.length === 0) return null as unknown as StreamReadRaw; // as it is when nothing came in time
    return [['events', found.map((message) => [String(message.id), message.fields])]];
  }

  /** Waits for a job, at most so many seconds. */
  async waitForJob(seconds: number): Promise<{ member: string; score: number } | null> {
    if (this.closing !== undefined || this.#isInterrupted) return null;
    const found = { member: this.#name, score: 0 };
    const { isThere, dueAt } = await this.#read(
      () => ({
        isThere: !this.#table.isPaused() && this.#table.isWaiting(),
        dueAt: this.#table.nextDueAt(),
      }),
      'committed',
    );
    if (isThere) return found;
    if (this.closing !== undefined || this.#isInterrupted) return null;
    const dueInMs = dueAt === undefined ? Number.POSITIVE_INFINITY : Math.max(0, dueAt - Date.now());
    const isWoken = await this.#waitsForJobs.wait(Math.min(seconds * 1000, dueInMs));
    return isWoken || dueInMs < seconds * 1000 ? found : null;
  }
}

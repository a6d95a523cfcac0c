import { setTimeout as delay } from 'node:timers/promises';
import { type BackendFactory, type Job, Queue, QueueEventsProducer, Worker } from 'bullmq';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createQueues } from '../../../../src/shared/queue/sqlite/embedded-queue.ts';
import { type Database, openDatabase } from '../../../../src/shared/store/embedded/file/database.ts';
import { prepareTables } from '../../../../src/shared/store/embedded/file/embedded-store.ts';

let database: Database;
let queue: ReturnType<typeof openQueue>;
let factory: BackendFactory;
const workers: { close(force?: boolean): Promise<void> }[] = [];

const openQueue = () => new Queue('q', { connection: {} }, factory);

beforeEach(async () => {
  database = openDatabase();
  await prepareTables(database);
  const { open } = createQueues(database);
  factory = (name, options) => open(name, options);
  queue = openQueue();
});
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close(true);
  await queue.close();
  database.close();
});

function open(processor?: (job: Job) => Promise<unknown>, options: object = {}) {
  const worker = new Worker(
    'q',
    processor ?? null,
    { connection: {}, autorun: processor !== undefined, ...options },
    factory,
  );
  worker.on('error', () => {});
  workers.push(worker);
  return worker;
}
const take = (token = 'token') => open().getNextJob(token, { block: false });
const names = (jobs: { name: string }[]) => jobs.map(({ name }) => name);
/** All that is asked in this turn of the event loop cannot be committed. */
async function failTurn(): Promise<void> {
  await database
    .write(() => {
      database
        .statement(
          'CREATE TABLE other (n INTEGER PRIMARY KEY, of INTEGER REFERENCES other DEFERRABLE INITIALLY DEFERRED)',
        )
        .run();
      database.statement('INSERT INTO other VALUES (1, 99)').run();
    })
    .catch(() => {});
}

describe('order', () => {
  it('first come, first served; what is added with lifo comes first, and a priority comes after all without one', async () => {
    await queue.add('low', {}, { priority: 5 });
    await queue.add('high', {}, { priority: 1 });
    await queue.add('a', {});
    await queue.add('b', {});
    await queue.add('first', {}, { lifo: true });
    const order: string[] = [];
    for (let job = await take(); job; job = await take()) order.push(job.name);
    expect(order).toEqual(['first', 'a', 'b', 'high', 'low']);
  });

  it('a job that failed and is tried again waits behind the others, with the reason of its failure', async () => {
    const seen: string[] = [];
    await queue.add('fails', {}, { attempts: 3 });
    await queue.add('other', {});
    const done = Promise.withResolvers<void>();
    const worker = open(async (job) => {
      seen.push(`${job.name} ${job.failedReason ?? ''}`.trim());
      if (job.name === 'fails') throw new Error(`failure ${job.attemptsStarted}`);
      return null;
    });
    worker.on('failed', (job) => job?.attemptsMade === 3 && done.resolve());
    await done.promise;
    expect(seen).toEqual(['fails', 'other', 'fails failure 1', 'fails failure 2']);
    const [failed] = await queue.getFailed();
    expect(failed?.stacktrace).toHaveLength(3);
  });

  it('delayed jobs wait behind the others once they are due, in the order in which they are due', async () => {
    await queue.add('later', {}, { delay: 60 });
    await queue.add('sooner', {}, { delay: 30 });
    await queue.add('now', {});
    await new Promise((resolve) => setTimeout(resolve, 100));
    const order: string[] = [];
    for (let job = await take(); job; job = await take()) order.push(job.name);
    expect(order).toEqual(['now', 'sooner', 'later']);
  });

  it('lists come in the order that BullMQ promises', async () => {
    for (const name of ['a', 'b', 'c']) await queue.add(name, {});
    expect(names(await queue.getWaiting(0, 1))).toEqual(['a', 'b']);
    expect(names(await queue.getJobs(['wait'], 0, 1, false))).toEqual(['c', 'b']);
  });
});

describe('what somebody works on', () => {
  it('is not removed, not cleaned, and taken by nobody else', async () => {
    const job = await queue.add('a', {});
    await take();
    expect(await queue.remove(job.id ?? '')).toBe(0);
    expect(await queue.clean(0, 10, 'active')).toEqual([]);
    expect(await take('another')).toBeUndefined();
    await expect((await queue.getJob(job.id ?? ''))?.moveToCompleted('x', 'another', false)).rejects.toThrow(
      'Lock mismatch',
    );
  });

  it('stays so when a commit fails; what could not be taken is free again', async () => {
    const { id = '' } = await queue.add('a', {});
    const [taken] = await Promise.allSettled([take(), failTurn()]);
    expect(taken.status).toBe('rejected');
    expect(await queue.getJobState(id)).toBe('waiting');
    expect(await queue.getBackend().extendLock(id, 'token', 1000)).toBe(0);

    const job = await take();
    const [ended] = await Promise.allSettled([job?.moveToCompleted('x', 'token', false), failTurn()]);
    expect(ended.status).toBe('rejected');
    expect(await queue.getJobState(id)).toBe('active');
    await job?.moveToCompleted('x', 'token', false);
    expect(await queue.getJobState(id)).toBe('completed');
  });
});

it('an id that was given is not given again', async () => {
  const { id } = await queue.add('a', {});
  await queue.remove(id ?? '');
  expect((await queue.add('b', {})).id).not.toBe(id);
});

it.each([
  [true, 0],
  [0, 0],
  [{ count: 0 }, 0],
  [2, 2],
  [{ count: 3 }, 3],
  [{ age: 60 }, 6],
  [false, 6],
])('of six completed jobs, removeOnComplete %j keeps %i', async (removeOnComplete, kept) => {
  for (let n = 0; n < 6; n++) {
    await queue.add('a', {}, { removeOnComplete });
    await (await take())?.moveToCompleted('x', 'token', false);
  }
  expect(await queue.getCompletedCount()).toBe(kept);
});

it('a queue is obliterated only while it is paused, and, if somebody works on its jobs, only by force', async () => {
  const { id = '' } = await queue.add('a', {}, { jobId: 'one' });
  await take();
  await expect(queue.getBackend().obliterate({ force: true, count: 1 })).rejects.toThrow('non-paused');
  await expect(queue.obliterate()).rejects.toThrow('active jobs');
  await queue.obliterate({ force: true });
  await queue.add('again', {}, { jobId: id });
  expect(await queue.remove(id)).toBe(1);
});

it('an obliterated queue has no message any more', async () => {
  const producer = new QueueEventsProducer('q', { connection: {} }, factory);
  await producer.publishEvent({ eventName: 'said' });
  await queue.obliterate({ force: true });
  await producer.publishEvent({ eventName: 'said later' });
  const found = await queue.getBackend().readEvents('0-0', 10);
  expect(found?.[0]?.[1].map(([, fields]) => fields)).toEqual([['event', 'said later']]);
  await producer.close();
});

it('what it has not, it refuses in words', async () => {
  const job = await queue.add('a', {}, { delay: 10_000 });
  await expect(job.changeDelay(1)).rejects.toThrow('the embedded queue has no changeDelay: use Redis for it');
  await expect(queue.setGlobalConcurrency(1)).rejects.toThrow('has no limits');
  await expect(queue.add('b', {}, { parent: { id: '1', queue: 'other' } })).rejects.toThrow('has no parent');
  await expect(queue.add('b', {}, { deduplication: { id: '1' } })).rejects.toThrow('has no deduplication');
  expect(() => open(undefined, { limiter: { max: 1, duration: 500 } })).toThrow('has no limiter');
  expect(await queue.getJobCountByTypes()).toBe(1);
  expect(await job.isWaitingChildren()).toBe(false);
});

it('a retried job comes behind those that are due', async () => {
  await queue.add('retried', {}, { attempts: 2 });
  const job = await take();
  await queue.add('due', {}, { delay: 1 });
  await delay(5);
  await job?.moveToFailed(new Error('again'), 'token', false);
  expect(names(await queue.getWaiting())).toEqual(['due', 'retried']);
});

it('a job that stalled more often than its worker allows fails', async () => {
  const { id = '' } = await queue.add('a', {});
  const stalling = open(undefined, { maxStalledCount: 1, stalledInterval: 10, lockDuration: 10 });
  const checks = () => stalling.getBackend().moveStalledJobsToWait();
  for (let stalled = 0; stalled < 2; stalled++) {
    await stalling.getNextJob('token', { block: false });
    await expect.poll(async () => (await checks()).length, { interval: 15 }).toBe(1);
  }
  open(async () => 'done', { maxStalledCount: 1 });
  await expect.poll(() => queue.getJobState(id)).toBe('failed');
  expect((await queue.getJob(id))?.failedReason).toBe('job stalled more than allowable limit');
});

import { createRedisBackend, Queue, UnrecoverableError, type WorkerOptions } from 'bullmq';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { EndingWorker } from '../../../src/shared/store/queue/ending-worker.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';

const choice = inject('redis');
/** A worker that missed a job finds it when it looks again, which an idle one does every 5 s. */
const BEFORE_IT_LOOKS_AGAIN = { timeout: 4000, interval: 5 };

describe.skipIf(choice.kind === 'unavailable')('a job', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('whose completion could not be written is begun again and completes; its result is not lost', async () => {
    const errors: string[] = [];
    let attempts = 0;
    const { queue, worker } = open('completion', (job) => {
      attempts++;
      // As a server answers that has become a replica, or cannot write to its disk.
      if (attempts === 1) job.moveToCompleted = () => Promise.reject(new Error('READONLY You can’t write'));
      return Promise.resolve({ attempts });
    });
    worker.on('error', ({ message }) => errors.push(message));
    const { id = '' } = await queue.add('job', {});
    await expect.poll(async () => (await queue.getJob(id))?.returnvalue, { timeout: 60_000 }).toEqual({ attempts: 2 });
    expect(errors).toEqual([expect.stringContaining('READONLY')]);
  });

  it('fails with what its processor threw', async () => {
    const { queue } = open('failure', () => Promise.reject(new UnrecoverableError('no answer')));
    const { id = '' } = await queue.add('job', {});
    await expect.poll(async () => (await queue.getJob(id))?.failedReason, { timeout: 60_000 }).toBe('no answer');
  });

  it('that is the first of a backlog is begun before the others are fetched, and of the next backlog as well', async () => {
    let first = Promise.withResolvers<number>();
    const process = async () => {
      first.resolve(queue.getJobCountByTypes('active'));
      return {};
    };
    const { queue, worker } = open('backlog', process, { concurrency: 500 });
    for (const finished of [500, 1000]) {
      await worker.pause();
      await queue.addBulk(Array.from({ length: 500 }, () => ({ name: 'job', data: {} })));
      first = Promise.withResolvers();
      worker.resume();
      expect(await first.promise).toBeLessThan(50);
      await expect.poll(() => queue.getJobCountByTypes('completed'), { timeout: 60_000 }).toBe(finished);
    }
  });

  it('is begun at once however many others do not end, and never more run than may', async () => {
    const ends: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const process = async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
      return {};
    };
    const { queue } = open('room', process, { concurrency: 45, lockDuration: 30_000 });
    const add = (count: number) => queue.addBulk(Array.from({ length: count }, () => ({ name: 'job', data: {} })));
    await add(40);
    await expect.poll(() => running, BEFORE_IT_LOOKS_AGAIN).toBe(40);
    for (let more = 41; more <= 45; more++) {
      await add(1);
      await expect.poll(() => running, BEFORE_IT_LOOKS_AGAIN).toBe(more);
    }
    await add(60);
    // Each that ends makes room for one.
    for (let ended = 1; ended <= 10; ended++) {
      ends.shift()?.();
      await expect.poll(() => ends.length, BEFORE_IT_LOOKS_AGAIN).toBe(45);
    }
    const ending = setInterval(() => ends.splice(0).map((end) => end()), 5);
    onTestFinished(() => clearInterval(ending));
    await expect.poll(() => queue.getJobCountByTypes('completed'), { timeout: 60_000 }).toBe(105);
    expect(most).toBe(45);
  });

  function open(
    name: string,
    process: ConstructorParameters<typeof EndingWorker<object, object>>[1],
    more: Partial<WorkerOptions<unknown>> = {},
  ) {
    const connection = { url: redis.url, maxRetriesPerRequest: null };
    const queue = new Queue(name, { connection });
    const worker = new EndingWorker<object, object>(
      name,
      process,
      { connection, lockDuration: 1000, stalledInterval: 300, maxStalledCount: 10, ...more },
      (queueName, options, more) => createRedisBackend(queueName, { ...options, connection }, more),
    );
    worker.on('error', () => {});
    onTestFinished(async () => {
      await Promise.all([worker.close(true), queue.close()]);
    });
    return { queue, worker };
  }
});

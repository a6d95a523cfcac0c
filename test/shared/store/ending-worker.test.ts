import { createRedisBackend, Queue, UnrecoverableError } from 'bullmq';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { EndingWorker } from '../../../src/shared/store/ending-worker.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';

const choice = inject('redis');

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
    await expect.poll(async () => (await queue.getJob(id))?.returnvalue, { timeout: 10_000 }).toEqual({ attempts: 2 });
    expect(errors).toEqual([expect.stringContaining('READONLY')]);
  });

  it('fails with what its processor threw', async () => {
    const { queue } = open('failure', () => Promise.reject(new UnrecoverableError('no answer')));
    const { id = '' } = await queue.add('job', {});
    await expect.poll(async () => (await queue.getJob(id))?.failedReason, { timeout: 10_000 }).toBe('no answer');
  });

  function open(name: string, process: ConstructorParameters<typeof EndingWorker<object, object>>[1]) {
    const connection = { url: redis.url, maxRetriesPerRequest: null };
    const queue = new Queue(name, { connection });
    const worker = new EndingWorker<object, object>(
      name,
      process,
      { connection, lockDuration: 1000, stalledInterval: 300, maxStalledCount: 10 },
      (queueName, options, more) => createRedisBackend(queueName, { ...options, connection }, more),
    );
    worker.on('error', () => {});
    onTestFinished(async () => {
      await Promise.all([worker.close(true), queue.close()]);
    });
    return { queue, worker };
  }
});

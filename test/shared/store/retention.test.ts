import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { answered, type Ending } from '../../../src/shared/contract/endings/ending.ts';
import type { JobData } from '../../../src/shared/contract/job.ts';
import { openQueueBackend } from '../../../src/shared/store/queue/open-queue-backend.ts';
import { queueNames } from '../../../src/shared/store/queue/queue-names.ts';
import { eventually } from '../../support/eventually.ts';
import { plainJob } from '../../support/job-data.ts';
import { startRedis } from '../../support/redis.ts';

const choice = inject('redis');
const INPUT = 'an input that must go';
const ANSWER = 'an answer that must go';

describe.skipIf(choice.kind === 'unavailable')('what finished long ago', () => {
  it('leaves Redis with its input, its answer and its events, although nothing finishes any more', async () => {
    const { backend, queue, redis } = await open();
    const result = { address: 'a', success: true, body: ANSWER };
    const worker = backend.openWorker<JobData, Ending>(queue.name, async () => answered(result), 1);
    worker.on('error', () => {});
    worker.run().catch(() => {});
    const job = await queue.add('execute', { ...data, input: INPUT }, { jobId: crypto.randomUUID() });
    await eventually(async () => expect((await queue.getJob(job.id ?? ''))?.finishedOn).toBeGreaterThan(0), 10_000);
    await worker.close();
    await backend.removeOld(queue, 60_000);
    expect(await textIn(redis)).toContain(INPUT);
    expect(await textIn(redis)).toContain(ANSWER);
    await delay(50);
    await backend.removeOld(queue, 20);
    expect(await textIn(redis)).not.toContain(INPUT);
    expect(await textIn(redis)).not.toContain(ANSWER);
  });

  it('is in 20,000 events at the most', async () => {
    const { queue, redis } = await open();
    const jobs = Array.from({ length: 1000 }, () => ({ name: 'execute', data, opts: {} }));
    for (let added = 0; added < 12; added++) await queue.addBulk(jobs); // each job is two events at the least
    const kept = await redis.xlen(queue.toKey('events'));
    expect(kept).toBeGreaterThan(10_000);
    expect(kept).toBeLessThan(20_500); // whole blocks of the stream leave
  });
});

const data = plainJob();

/** A queue on a Redis of its own, until the test has finished. */
async function open() {
  const server = await startRedis(choice);
  onTestFinished(() => server.stop().then(() => {}));
  const backend = await openQueueBackend(server.url);
  onTestFinished(() => backend.close());
  await backend.connected;
  const queue = backend.openQueue<JobData, Ending>(queueNames.executions);
  onTestFinished(() => queue.close());
  queue.on('error', () => {});
  await queue.waitUntilReady();
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  return { backend, queue, redis };
}

/** Everything that is in jobs and streams, as text. */
async function textIn(redis: Redis): Promise<string> {
  const texts = await Promise.all(
    (await redis.keys('*')).map(async (key) => {
      const type = await redis.type(key);
      if (type === 'hash') return redis.hgetall(key);
      if (type === 'stream') return redis.xrange(key, '-', '+');
      return type === 'string' ? redis.get(key) : null;
    }),
  );
  return JSON.stringify(texts);
}

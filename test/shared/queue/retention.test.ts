import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { answered } from '../../../src/shared/contract/endings/ending.ts';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import { addExecution, type ExecutionQueue } from '../../../src/shared/queue/queue.ts';
import { DEFAULT_PREFIX } from '../../../src/shared/runtime/settings/redis-address.ts';
import { eventually } from '../../support/eventually.ts';
import { plainJob } from '../../support/job-data.ts';
import { startRedis } from '../../support/redis.ts';

const choice = inject('redis');
const INPUT = 'an input that must go';
const ANSWER = 'an answer that must go';

describe.skipIf(choice.kind === 'unavailable')('what finished long ago', () => {
  it('leaves Redis with its input, its answer and its events, although nothing finishes any more', async () => {
    const { backend, queue, redis } = await open();
    const ending = answered({ address: 'a', success: true, body: ANSWER });
    const worker = backend.openWorker(queue.name, (job) => job.finish(ending), { concurrency: 1 });
    worker.run();
    const mockId = crypto.randomUUID();
    await addExecution(queue, mockId, { ...data, input: INPUT });
    await eventually(async () => expect((await queue.lookUp(mockId)).kind).toBe('ended'));
    await worker.close();
    await queue.removeOld(60_000);
    expect(await textIn(redis)).toContain(INPUT);
    expect(await textIn(redis)).toContain(ANSWER);
    await delay(50);
    await queue.removeOld(20);
    expect(await textIn(redis)).not.toContain(INPUT);
    expect(await textIn(redis)).not.toContain(ANSWER);
  });

  it('is in 20,000 events at the most', async () => {
    const { queue, redis } = await open();
    // Each job is two events at the least.
    for (let added = 0; added < 12; added++)
      await Promise.all(Array.from({ length: 1000 }, () => addExecution(queue, crypto.randomUUID(), data)));
    const kept = await redis.xlen(`${DEFAULT_PREFIX}:executions:events`);
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
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  onTestFinished(() => queue.close());
  await queue.count(); // it is connected
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

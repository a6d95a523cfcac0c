import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { jobDataSchema } from '../../../src/shared/contract/job.ts';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import type { ExecutionQueue } from '../../../src/shared/queue/queue.ts';
import { echoes } from '../../support/echoes.ts';
import { startRedis } from '../../support/redis.ts';
import { claimRedisDatabase } from '../../support/redis-database.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { createResponder } from '../../support/responder.ts';
import { startService } from '../../support/start-service.ts';

const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('an execution that the queue gives out a second time', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('to the worker that still has it stays one: one request, one hand-over, one answer', async () => {
    const database = await claimRedisDatabase(redis.url);
    const answered = Promise.withResolvers<void>();
    await using service = await startService({ queueUrl: database.url, settings: { RESULT_TIMEOUT_MS: 30_000 } });
    const does = echoes({ once: answered.promise });
    await using responder = await createResponder({ sharedDir: service.sharedDir, app: 1, does });
    const queue: ExecutionQueue | undefined = service.backends[0]?.openQueue(queueNames.executions);

    const call = service.execute({ app: 1, ruleId: 1, 'the service': { number: 1 } });
    const { mockId } = await responder.firstRequest();
    const job = await queue?.read(mockId);
    if (!queue || !job) throw new Error('the job of the execution is not there');
    await forgetEverything(database.url);
    await queue.add(mockId, jobDataSchema.parse(job.data));
    await expect.poll(async () => (await queue.read(mockId))?.begun, { timeout: 60_000 }).toBe(true);

    await service.addWorker();
    const stoppingAt = performance.now();
    await service.workers[0]?.stop();
    expect(performance.now() - stoppingAt).toBeLessThan(10_000);
    answered.resolve();
    expect((await call).json['the service']).toEqual({ number: 1 });
    expect(responder.found).toHaveLength(1);
    await queue.close();
    await database.stop();
  });
});

async function forgetEverything(url: string): Promise<void> {
  const connection = new Redis(url);
  await connection.flushdb();
  connection.disconnect();
}

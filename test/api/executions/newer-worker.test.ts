import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import type { QueueBackend } from '../../../src/shared/queue/queue-backend.ts';
import { startRedis } from '../../support/redis.ts';
import { claimRedisDatabase } from '../../support/redis-database.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { type Service, startService } from '../../support/start-service.ts';

const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('an API that hears from a newer worker', () => {
  let redis: RedisServer;
  let service: Service;
  beforeAll(async () => {
    redis = await startRedis(choice);
    service = await startService({ queueUrl: (await claimRedisDatabase(redis.url)).url, workers: 0, logsErrors: true });
  });
  afterAll(async () => {
    await service?.stop();
    await redis?.stop();
  });

  const backend = (): QueueBackend => {
    const [first] = service.backends;
    if (!first) throw new Error('the service has no queue');
    return first;
  };

  async function answering<T>(name: string, answer: () => unknown, call: () => Promise<T>): Promise<T> {
    const worker = backend().openWorker(name, (job) => job.finish(answer()), { concurrency: 1 });
    worker.run();
    try {
      return await call();
    } finally {
      await worker.close();
    }
  }
  const execute = () => service.execute({ app: 1, ruleId: 1 });

  it('an ending it cannot read: 504 outcome-unknown, which says that it may have run', async () => {
    const ending = { kind: 'answered-otherwise', address: 'a', answer: { of: 'another form' } };
    const { status, json } = await answering(queueNames.executions, () => ending, execute);
    expect([status, json.code, json.mayHaveRun]).toEqual([504, 'outcome-unknown', true]);
    const { json: execution } = await service.call(`/rule-server/mock/executions/${json.mockId}`);
    expect(execution).toMatchObject({ state: 'failed', ending: { code: 'outcome-unknown', mayHaveRun: true } });
  });

  it('fields it does not know are no reason not to read the rest', async () => {
    const result = { address: 'a', success: true, body: '{"success":true}', mood: 'good' };
    expect(
      await answering(queueNames.executions, () => ({ kind: 'answered', result, mood: 'good' }), execute),
    ).toMatchObject({
      status: 200,
      text: '{"success":true}',
    });
  });

  it('a failure with a code it does not know keeps its reason and whether it ran', async () => {
    const refusal = {
      code: 'too-hot',
      reason: 'client-too-hot',
      params: { degrees: 99 },
      mayHaveRun: false,
      executeAt: 1,
      address: null,
    };
    const refuse = () => ({ kind: 'unanswered', noAnswer: refusal });
    expect(await answering(queueNames.executions, refuse, execute)).toMatchObject({
      json: { code: 'outcome-unknown', reason: 'client-too-hot', params: { degrees: 99 }, mayHaveRun: false },
    });
  });

  it('an answer to a question that it cannot read: 503', async () => {
    const ask = () => service.call('/rule-server/mock/apps');
    const { status, json } = await answering(queueNames.queries, () => ({ v: 2, page: [] }), ask);
    expect([status, json.error]).toEqual([503, expect.stringContaining('of a newer version')]);
  });
});

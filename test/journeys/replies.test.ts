import { describe, expect, inject, it } from 'vitest';
import { queueNames } from '../../src/shared/contract/queue-names.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import { startService } from '../support/start-service.ts';

const choice = inject('redis');
const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };
const EXECUTIONS = '/rule-server/mock/executions';

describe.skipIf(choice.kind === 'unavailable')('with two APIs on one Redis', () => {
  it('none reads the event stream of all calls: not for its own, and not while somebody follows one', async () => {
    await using two = await startTwo();
    const { service } = two;
    await using client = await service.clientThat(echoes({ afterMs: 200 }), { app: 1 });
    const [one = '', other = ''] = service.urls;
    const call = service.execute(CALL, { url: one });
    const { mockId } = await client.firstRequest();
    const followed = fetch(`${other}${EXECUTIONS}/${mockId}/events`).then((response) => response.text());
    expect((await call).status).toBe(200);
    expect(await followed).toMatch(/"state":"succeeded"/);
  });

  it('a cancel at one of them answers the caller of the other, although there is no worker', async () => {
    await using two = await startTwo();
    const { service } = two;
    const [one = '', other = ''] = service.urls;
    for (const worker of service.workers.splice(0)) await worker.stop();
    const call = service.execute(CALL, { url: one });
    let items: { mockId: string }[] = [];
    await eventually(async () => {
      ({ items } = (await httpCall(`${other}${EXECUTIONS}?limit=10`)).json);
      expect(items).toHaveLength(1);
    });
    const { status } = await httpCall(`${other}${EXECUTIONS}/${items[0]?.mockId}`, { method: 'DELETE' });
    expect(status).toBe(202);
    expect((await call).json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
  });
});

/** Two APIs and a worker, and the queue they share. */
async function startTwo() {
  const redis = await startRedis(choice);
  const database = await claimRedisDatabase(redis.url);
  const service = await startService({ apis: 2, queueUrl: database.url });
  const queue = service.backends[0]?.openQueue(queueNames.executions);
  if (!queue) throw new Error('the service has no queue');
  return {
    service,
    queue,
    async [Symbol.asyncDispose]() {
      await queue.close();
      await service.stop();
      await database.stop();
      await redis.stop();
    },
  };
}

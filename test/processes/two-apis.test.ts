import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answersAfter, createResponder, resultText, staysSilent } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';
const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('an execution seen from the API that did not take the call', () => {
  let redis: RedisServer;
  let database: RedisServer;
  let service: Service;
  let apps = 0;
  beforeAll(async () => {
    redis = await startRedis(choice);
    database = await claimRedisDatabase(redis.url);
    service = await startService({ queueUrl: database.url, apis: 2, workers: 3, leavesFiles: true });
  });
  afterAll(async () => {
    await service?.stop();
    await database?.stop();
    await redis?.stop();
  });

  const clientThat = async (does: Parameters<typeof createResponder>[0]['does']) => {
    const app = ++apps;
    return Object.assign(await createResponder({ sharedDir: service.sharedDir, app, does }), { app });
  };
  const at = (api: number) => service.urls[api] ?? '';
  const execute = (api: number, body: unknown, headers: Record<string, string> = {}) =>
    httpCall(`${at(api)}/rule-server/mock/execute`, { method: 'POST', body: JSON.stringify(body), headers });

  it('its events arrive as they happen', async () => {
    const took: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) took.push(await msToHearOfTheEnd());
    expect(Math.min(...took)).toBeLessThan(900); // told by an event, not found by the look each second
  });

  async function msToHearOfTheEnd(): Promise<number> {
    const go = Promise.withResolvers<void>();
    await using client = await clientThat(async (request) => {
      await request.pickUp();
      await go.promise;
      await request.answer(resultText(request));
    });
    const answer = execute(0, { app: client.app, ruleId: 1 });
    const { mockId } = await client.firstRequest();
    const stream = await openEventStream(`${at(1)}${EXECUTIONS}/${mockId}/events`);
    const told = () => stream.events.map(({ event, data }) => (event === 'state' ? data.state : event));
    await eventually(() => expect(told()).toEqual(['snapshot', 'queued', 'dispatched', 'picked-up']));
    const began = Date.now();
    go.resolve();
    await stream.ended;
    const tookMs = Date.now() - began;
    expect(told().at(-1)).toBe('succeeded');
    expect((await answer).status).toBe(200);
    return tookMs;
  }

  it('it is read, listed and cancelled there', async () => {
    await using client = await clientThat(staysSilent);
    const answer = execute(0, { app: client.app, ruleId: 1 });
    const { mockId } = await client.firstRequest();
    expect((await httpCall(`${at(1)}${EXECUTIONS}/${mockId}`)).json.state).toMatch(/queued|dispatched/);
    const { items } = (await httpCall(`${at(1)}${EXECUTIONS}?app=${client.app}`)).json;
    expect(items.map((item: { mockId: string }) => item.mockId)).toEqual([mockId]);
    expect((await httpCall(`${at(1)}${EXECUTIONS}/${mockId}`, { method: 'DELETE' })).status).toBe(202);
    const { status, json } = await answer;
    expect([status, json.code, json.mayHaveRun]).toEqual([409, 'cancelled', false]);
  });

  it('one that waits for a worker is cancelled there, and its caller hears of it', async () => {
    const own = await claimRedisDatabase(redis.url);
    try {
      await using lonely = await startService({ queueUrl: own.url, apis: 2, workers: 0 });
      const answer = lonely.execute({ app: 1, ruleId: 1 });
      const list = () => httpCall(`${lonely.urls[1]}${EXECUTIONS}`);
      const mockId = await eventually(async () => {
        const [item] = (await list()).json.items;
        expect(item).toMatchObject({ app: 1 });
        return item.mockId;
      });
      await httpCall(`${lonely.urls[1]}${EXECUTIONS}/${mockId}`, { method: 'DELETE' });
      expect((await answer).json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
    } finally {
      await own.stop();
    }
  });

  it('the same Idempotency-Key sent to both at once runs the rule once, and both get its answer', async () => {
    await using client = await clientThat(answersAfter(50));
    for (let round = 1; round <= 20; round++) {
      const headers = { 'idempotency-key': `round ${round}` };
      const both = await Promise.all([0, 1].map((api) => execute(api, { app: client.app, ruleId: 1 }, headers)));
      expect(new Set(both.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(both[0]?.status).toBe(200);
      expect(client.found).toHaveLength(round);
    }
  });

  it('it is in the history when the API that took the call was killed while the rule ran', async () => {
    const own = await claimRedisDatabase(redis.url);
    try {
      await using processes = await startProcesses({ queueUrl: own.url, apis: 2, workers: 1 });
      const { sharedDir } = processes;
      const go = Promise.withResolvers<void>();
      await using client = await createResponder({
        sharedDir,
        app: 1,
        does: async (request) => {
          await request.pickUp();
          await go.promise;
          await request.answer(resultText(request));
        },
      });
      const [first, second] = processes.apis;
      const call = { method: 'POST', body: '{"app":1,"ruleId":1}', headers: { 'idempotency-key': 'k' } };
      const answer = httpCall(`${first?.url}/rule-server/mock/execute`, call).catch(() => 'cut off');
      const { mockId } = await client.firstRequest();
      await first?.kill();
      expect(await answer).toBe('cut off');
      go.resolve();
      // The same call again, at the API that is left: it gets the answer of the one run.
      const again = await httpCall(`${second?.url}/rule-server/mock/execute`, call);
      expect([again.status, again.json.mockId]).toEqual([200, mockId]);
      const { json } = await httpCall(`${second?.url}${EXECUTIONS}/${mockId}`);
      expect(json).toMatchObject({ state: 'succeeded', result: { mockId, success: true } });
      expect(client.found).toHaveLength(1);
    } finally {
      await own.stop();
    }
  });
});

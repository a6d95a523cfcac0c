import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { answersAfter, resultText, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

describe.skipIf(inject('sharedRedis') === null)('an execution seen from the API that did not take the call', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ apis: 2, workers: 2, leavesFiles: true });
  });
  afterAll(() => service.stop());

  const at = (api: number) => service.urls[api] ?? '';

  it('its events arrive, each state once', async () => {
    const go = Promise.withResolvers<void>();
    await using client = await service.clientThat(async (request) => {
      await request.pickUp();
      await go.promise;
      await request.answer(resultText(request));
    });
    const answer = service.execute({ app: client.app, ruleId: 1 }, { url: at(0) });
    const { mockId } = await client.firstRequest();
    const stream = await openEventStream(`${at(1)}${EXECUTIONS}/${mockId}/events`);
    const states = () => stream.events.map(({ event, data }) => (event === 'state' ? data.state : event));
    await eventually(() => expect(states()).toContain('picked-up'));
    go.resolve();
    await stream.ended;
    expect(states()).toEqual(['snapshot', 'queued', 'dispatched', 'picked-up', 'succeeded']);
    expect((await answer).status).toBe(200);
  });

  it('it is read, listed and cancelled there', async () => {
    await using client = await service.clientThat(staysSilent);
    const answer = service.execute({ app: client.app, ruleId: 1 }, { url: at(0) });
    const { mockId } = await client.firstRequest();
    expect((await httpCall(`${at(1)}${EXECUTIONS}/${mockId}`)).json.state).toMatch(/queued|dispatched/);
    const { items } = (await httpCall(`${at(1)}${EXECUTIONS}?app=${client.app}`)).json;
    expect(items.map((item: { mockId: string }) => item.mockId)).toEqual([mockId]);
    expect((await httpCall(`${at(1)}${EXECUTIONS}/${mockId}`, { method: 'DELETE' })).status).toBe(202);
    const { status, json } = await answer;
    expect([status, json.code, json.mayHaveRun]).toEqual([409, 'cancelled', false]);
  });

  it('cancelled there it ends although there is no worker', async () => {
    await using lonely = await startService({ apis: 2, workers: 0 });
    const [one = '', other = ''] = lonely.urls;
    const call = lonely.execute({ app: 1, ruleId: 1 }, { url: one });
    const [{ mockId }] = await eventually(async () => {
      const { items } = (await httpCall(`${other}${EXECUTIONS}`)).json;
      expect(items).toHaveLength(1);
      return items;
    });
    expect((await httpCall(`${other}${EXECUTIONS}/${mockId}`, { method: 'DELETE' })).status).toBe(202);
    expect((await call).json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
  });

  it('the same Idempotency-Key sent to both at once runs the rule once, and both get its answer', async () => {
    await using client = await service.clientThat(answersAfter(50));
    for (let round = 1; round <= 20; round++) {
      const headers = { 'idempotency-key': `round ${round}` };
      const call = (api: number) => service.execute({ app: client.app, ruleId: 1 }, { url: at(api), headers });
      const both = await Promise.all([call(0), call(1)]);
      expect(new Set(both.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(both[0]?.status).toBe(200);
      expect(client.found).toHaveLength(round);
    }
  });
});

import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { redisCommand } from '../support/redis-command.ts';
import {
  answers,
  answersAfter,
  createResponder,
  picksUpAndStaysSilent,
  resultText,
  staysSilent,
} from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import { type Service, startService } from '../support/start-service.ts';

describe('an Idempotency-Key whose answer had to leave', () => {
  it('says that it ran, and does not run again', async () => {
    await using service = await startService({ settings: { IDEMPOTENCY_BYTES: 12_000, HISTORY_COUNT: 0 } });
    await using client = await service.clientThat(answers({ process: 'x'.repeat(8000) }), { app: 1 });
    const call = (key: string) => service.execute({ app: 1, ruleId: 1 }, { headers: { 'idempotency-key': key } });
    const first = await call('a');
    await call('b');
    await vi.waitFor(
      async () => {
        const again = await call('a');
        expect(again).toMatchObject({
          status: 504,
          json: { mockId: first.json.mockId, code: 'outcome-unknown', reason: 'answer-gone', mayHaveRun: true },
        });
      },
      { timeout: 60_000 },
    );
    expect((await call('b')).status).toBe(200);
    expect(client.found).toHaveLength(2);
  });

  it('is refused when there is no room to remember it, and others run on', async () => {
    await using service = await startService({ settings: { IDEMPOTENCY_BYTES: 2000 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const call = (key: string) => service.execute({ app: 1, ruleId: 1 }, { headers: { 'idempotency-key': key } });
    expect([(await call('a')).status, (await call('b')).status]).toEqual([200, 200]);
    expect(await call('c')).toMatchObject({ status: 503, json: { code: 'overloaded', mayHaveRun: false } });
    expect((await service.execute({ app: 1, ruleId: 1 })).status).toBe(200);
    expect(client.found).toHaveLength(3);
  });
});

describe('an Idempotency-Key', () => {
  let service: Service;
  let apps = 300;
  beforeAll(async () => {
    service = await startService({ settings: { RESULT_TIMEOUT_MS: 2500, HISTORY_COUNT: 30 } });
  });
  afterAll(() => service.stop());

  it('says of an answer that it is the one of an earlier call', async () => {
    const app = ++apps;
    await using _ = await createResponder({ sharedDir: service.sharedDir, app, does: answers() });
    const headers = { 'idempotency-key': 'told' };
    const call = () => service.execute({ app, ruleId: 1 }, { headers });
    const [first, again] = [await call(), await call()];
    expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
    expect(again.text).toBe(first.text);
  });

  const call = (app: number, key: string, more: { ruleId?: number; headers?: Record<string, string> } = {}) =>
    service.execute({ app, ruleId: more.ruleId ?? 1 }, { headers: { 'idempotency-key': key, ...more.headers } });

  describe.concurrent('makes the same call run once', () => {
    it('when it is made again after the first was answered: the same bytes', async () => {
      await using client = await service.clientThat(answers({ process: 'once' }));
      const [first, second] = [await call(client.app, 'k'), await call(client.app, 'k')];
      expect(first.status).toBe(200);
      expect([second.status, second.text]).toEqual([first.status, first.text]);
      expect(client.found).toHaveLength(1);
    });

    it('when it is made with the key in quotes, as the draft of the IETF has it', async () => {
      await using client = await service.clientThat(answers({ process: 'once' }));
      const [first, second] = [await call(client.app, 'a "k"'), await call(client.app, '"a \\"k\\""')];
      expect([second.status, second.text]).toEqual([first.status, first.text]);
      expect(client.found).toHaveLength(1);
      expect((await call(client.app, '""')).json.errors[0].field).toBe('Idempotency-Key');
    });

    it('when it is made many times at once', async () => {
      await using client = await service.clientThat(answersAfter(200));
      const all = await Promise.all(Array.from({ length: 20 }, () => call(client.app, 'k')));
      expect(new Set(all.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(client.found).toHaveLength(1);
    });

    it('when its answer is a timeout', async () => {
      await using client = await service.clientThat(picksUpAndStaysSilent);
      const [first, second] = [await call(client.app, 'k'), await call(client.app, 'k')];
      expect([first.status, first.json.code]).toEqual([504, 'no-answer']);
      expect(second.text).toBe(first.text);
      expect(client.found).toHaveLength(1);
    });

    it('when it is answered with 202: both learn of the one execution', async () => {
      await using client = await service.clientThat(answersAfter(200));
      const headers = { prefer: 'respond-async' };
      const [first, second] = [await call(client.app, 'k', { headers }), await call(client.app, 'k', { headers })];
      expect([first.status, second.status]).toEqual([202, 202]);
      expect(second.json.mockId).toBe(first.json.mockId);
      const last = await call(client.app, 'k');
      expect([last.status, last.json.mockId]).toEqual([200, first.json.mockId]);
      expect((await call(client.app, 'k', { headers })).json.state).toBe('succeeded');
      expect(client.found).toHaveLength(1);
    });

    it('when its first caller hung up before the client picked it up', async () => {
      await using client = await service.clientThat(staysSilent);
      const hangUp = new AbortController();
      const headers = { 'idempotency-key': 'k' };
      const first = service.execute({ app: client.app, ruleId: 1 }, { headers, signal: hangUp.signal });
      const gone = expect(first).rejects.toThrow();
      const request = await client.firstRequest();
      hangUp.abort();
      await gone;
      const second = call(client.app, 'k');
      await request.pickUp();
      await request.answer(resultText(request));
      expect((await second).json).toMatchObject({ mockId: request.mockId, success: true });
    });

    it('belongs to its app', async () => {
      await using one = await service.clientThat(answers());
      await using two = await service.clientThat(answers());
      const [first, second] = [await call(one.app, 'same'), await call(two.app, 'same')];
      expect(second.json.mockId).not.toBe(first.json.mockId);
    });

    it('is refused for another call', async () => {
      await using client = await service.clientThat(answers());
      await call(client.app, 'k');
      const { status, json } = await call(client.app, 'k', { ruleId: 2 });
      expect([status, json.code, json.mayHaveRun]).toEqual([422, 'key-reused', false]);
      expect(client.found).toHaveLength(1);
    });

    it('may have 255 characters and no more', async () => {
      await using client = await service.clientThat(answers());
      expect((await call(client.app, 'k'.repeat(255))).status).toBe(200);
      expect((await call(client.app, 'k'.repeat(256))).status).toBe(400);
    });
  });

  it('is free again when nothing was dispatched, also for another body', async () => {
    const app = ++apps;
    const [first, again, other] = [await call(app, 'k'), await call(app, 'k'), await call(app, 'k', { ruleId: 2 })];
    expect([first, again, other].map(({ json }) => json.code)).toEqual(['no-client', 'no-client', 'no-client']);
    expect(new Set([first, again, other].map(({ json }) => json.mockId)).size).toBe(3);
    await using client = await createResponder({ sharedDir: service.sharedDir, app, does: answers() });
    expect((await call(app, 'k')).status).toBe(200);
    expect(client.found).toHaveLength(1);
  });

  it('keeps its answer when the history is too full to keep the execution', async () => {
    await using client = await service.clientThat(answers());
    const first = await call(client.app, 'k');
    for (let count = 0; count < 40; count++) await service.execute({ app: client.app, ruleId: 1 });
    await eventually(async () => {
      const items = (await service.call('/rule-server/mock/executions?limit=100')).json.items;
      expect(items).toHaveLength(30);
    });
    const again = await call(client.app, 'k');
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(client.found).toHaveLength(41);
  });

  it('keeps a large answer too', async () => {
    await using client = await service.clientThat(answers({ process: 'x'.repeat(100_000) }));
    const first = await call(client.app, 'k');
    client.does = answers();
    for (let count = 0; count < 40; count++) await service.execute({ app: client.app, ruleId: 1 });
    await eventually(async () => {
      const { items } = (await service.call('/rule-server/mock/executions?limit=100')).json;
      expect(items.some(({ mockId }: { mockId: string }) => mockId === first.json.mockId)).toBe(false);
    });
    const again = await call(client.app, 'k');
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(client.found).toHaveLength(41);
  });
});

it.skipIf(inject('redis').kind === 'unavailable')('a key that Redis lost still stands for its call', async () => {
  const database = await borrowDatabase();
  try {
    const url = database?.url ?? '';
    await using service = await startService({ queueUrl: url });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const call = (ruleId: number) => service.execute({ app: 1, ruleId }, { headers: { 'idempotency-key': 'k' } });
    const first = await call(1);
    const [record] = [await redisCommand(url, 'KEYS', '*store:idempotency:*')].flat();
    expect(await redisCommand(url, 'DEL', String(record))).toBe(1);
    expect((await call(2)).status).toBe(422);
    expect(await call(1)).toMatchObject({ status: 200, json: first.json });
    expect(client.found).toHaveLength(1);
  } finally {
    await database?.stop();
  }
});

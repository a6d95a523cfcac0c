import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { queueNames } from '../../src/shared/contract/queue-names.ts';
import { echoes } from '../support/echoes.ts';
import { openEventStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import {
  answers,
  answersAfter,
  answersWith,
  createResponder,
  picksUpAndStaysSilent,
  resultText,
  staysSilent,
} from '../support/responder.ts';
import { PATIENT, type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

describe('executions as a resource', () => {
  let service: Service;
  /** One whose executions are soon over when their client does not answer. */
  let hasty: Service;
  let apps = 500;
  beforeAll(async () => {
    service = await startService({ settings: PATIENT, leavesFiles: true });
    hasty = await startService({ settings: { RESULT_TIMEOUT_MS: 2500 } });
  });
  afterAll(async () => {
    await hasty?.stop();
    await service?.stop();
  });

  const begin = async (body: unknown, headers: Record<string, string> = {}, at = service): Promise<string> => {
    const { status, json } = await at.execute(body, { headers: { prefer: 'respond-async', ...headers } });
    expect(status).toBe(202);
    return json.mockId;
  };
  const get = (mockId: string, from = service): Promise<Answer> => from.call(`${EXECUTIONS}/${mockId}`);
  const states = ({ json }: Answer) => json.history.map(({ state }: { state: string }) => state);
  const reaches = (mockId: string, state: string, from = service): Promise<Answer> =>
    vi.waitFor(
      async () => {
        const answer = await get(mockId, from);
        expect(answer.json.state).toBe(state);
        return answer;
      },
      { timeout: 60_000, interval: 20 },
    );
  const cancel = (mockId: string) => service.call(`${EXECUTIONS}/${mockId}`, { method: 'DELETE' });
  const streamOf = (mockId: string, lastEventId?: string) =>
    openEventStream(`${service.url}${EXECUTIONS}/${mockId}/events`, lastEventId === undefined ? {} : { lastEventId });

  describe.concurrent('a call with Prefer: respond-async', () => {
    it('is answered before it has run, with where to look and that the preference was followed', async () => {
      await using client = await service.clientThat(staysSilent);
      const answer = await service.execute({ app: client.app, ruleId: 1 }, { headers: { prefer: 'respond-async' } });
      expect(answer.status).toBe(202);
      expect(answer.json).toEqual({ mockId: expect.stringMatching(/^[0-9a-f-]{36}$/), state: 'queued' });
      expect(answer.headers.location).toBe(`${EXECUTIONS}/${answer.json.mockId}`);
      expect(answer.headers['preference-applied']).toBe('respond-async');
      await cancel(answer.json.mockId);
    });

    it.each(['wait=10, respond-async', 'Respond-Async; foo="bar"'])('%s is the same preference', async (prefer) => {
      await using client = await service.clientThat(answers());
      const { status } = await service.execute({ app: client.app, ruleId: 1 }, { headers: { prefer } });
      expect(status).toBe(202);
    });

    it('another preference changes nothing', async () => {
      await using client = await service.clientThat(answers());
      const headers = { prefer: 'respond-asynchronously, wait=3' };
      const { status } = await service.execute({ app: client.app, ruleId: 1 }, { headers });
      expect(status).toBe(200);
    });

    it('is refused like any other when it is wrong', async () => {
      const { status } = await service.execute({ app: 0 }, { headers: { prefer: 'respond-async' } });
      expect(status).toBe(400);
    });

    it('goes on when its caller has long gone', async () => {
      await using client = await service.clientThat(answersAfter(300));
      const mockId = await begin({ app: client.app, ruleId: 1 });
      expect((await reaches(mockId, 'succeeded')).json.ending).toEqual({
        status: 200,
        code: null,
        reason: null,
        params: {},
        mayHaveRun: true,
      });
    });
  });

  describe.concurrent('one execution', () => {
    it('tells what was asked, where it ran, how it went and how long each part took', async () => {
      const ended = Promise.withResolvers<void>();
      await using client = await service.clientThat(echoes({ once: ended.promise }), { lane: 'beta' });
      const body = `{"app":${client.app},"ruleId":9007199254740993,"confId":7,"ts":1700000000000,"target":"lane:beta","the service":{"n":1.50}}`;
      const mockId = await begin(body);
      await reaches(mockId, 'picked-up');
      await delay(200);
      ended.resolve();
      const { json, text } = await reaches(mockId, 'succeeded');
      expect(json).toMatchObject({
        mockId,
        app: client.app,
        confId: 7,
        ts: 1_700_000_000_000,
        target: 'lane:beta',
        keyName: null,
        address: client.address,
        warnings: [],
        lateResult: null,
      });
      expect(text).toContain('"ruleId":9007199254740993,');
      expect(text).toContain('"input":{"n":1.50},');
      expect(json.history.map(({ state }: { state: string }) => state)).toEqual([
        'queued',
        'dispatched',
        'picked-up',
        'succeeded',
      ]);
      const { queued, pickUp, running, noticing, total } = json.timings;
      expect(running).toBeGreaterThan(150);
      expect(queued + pickUp + running + noticing).toBe(total);
      expect(total).toBe(json.history[3].at - json.history[0].at);
    });

    it('has the result the caller was answered, to the digit', async () => {
      await using client = await service.clientThat(
        answersWith((request) => resultText(request).replace('{}', '{"n":1e400}')),
      );
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      const { text } = await reaches(answer.json.mockId, 'succeeded');
      expect(text).toContain(`"result":${answer.text},`);
      expect(answer.text).toContain('"n":1e400');
    });

    it('has a result of a mebibyte as well', async () => {
      await using client = await service.clientThat(answers({ process: 'x'.repeat(1024 * 1024) }));
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expect(answer.status).toBe(200);
      const { text } = await reaches(answer.json.mockId, 'succeeded');
      expect(text).toContain(`"result":${answer.text},`);
    });

    it.each([2, 70])('an input of %i KiB is not kept in its job as well', async (kilobytes) => {
      await using client = await service.clientThat(answers());
      const input = { a: 'x'.repeat(kilobytes * 1024) };
      const { json } = await service.execute({ app: client.app, ruleId: 1, 'the service': input });
      const queue = service.backends[0]?.openQueue(queueNames.executions);
      try {
        await eventually(async () => expect((await queue?.read(json.mockId))?.data).toMatchObject({ input: '' }));
        expect((await get(json.mockId)).json.input).toEqual(kilobytes < 64 ? input : null);
      } finally {
        await queue?.close();
      }
    });

    it('that nobody could run is rejected, and keeps what its caller was told', async () => {
      const answer = await service.execute({ app: ++apps, ruleId: 1 });
      const execution = await reaches(answer.json.mockId, 'rejected');
      expect(states(execution)).toEqual(['queued', 'rejected']);
      expect(execution.json).toMatchObject({
        address: null,
        ending: { status: 503, code: 'no-client', reason: 'no-client-online', mayHaveRun: false },
        result: answer.json,
        timings: { queued: expect.any(Number), pickUp: null, running: null, noticing: null },
      });
    });

    it('that was never picked up says how long it waited for that', async () => {
      await using client = await createResponder({ sharedDir: hasty.sharedDir, app: 1, does: staysSilent });
      const mockId = await begin({ app: 1, ruleId: 1 }, {}, hasty);
      const { json } = await reaches(mockId, 'timed-out', hasty);
      expect(json.ending).toEqual({
        ...{ status: 504, code: 'not-picked-up', reason: 'not-picked-up', mayHaveRun: false },
        params: { address: client.address, timeoutMs: expect.any(Number) },
      });
      expect(json.timings.pickUp).toBeGreaterThan(2000);
      expect(json.timings.running).toBeNull();
    });

    it('keeps an answer that came after it had timed out, and its end stays what it was', async () => {
      await using client = await createResponder({ sharedDir: hasty.sharedDir, app: 2, does: picksUpAndStaysSilent });
      const answer = await hasty.execute({ app: 2, ruleId: 1 });
      expect(answer.status).toBe(504);
      const request = await client.firstRequest();
      await request.answer(resultText(request, { 'the service': { late: 9007199254740993n.toString() } }));
      const late = await vi.waitFor(
        async () => {
          const execution = await get(request.mockId, hasty);
          expect(execution.json.lateResult).not.toBeNull();
          return execution;
        },
        { timeout: 60_000 },
      );
      expect(late.json.state).toBe('timed-out');
      expect(late.json.result).toEqual(answer.json);
      expect(late.json.lateResult).toMatchObject({ success: true, 'the service': { late: '9007199254740993' } });
    });

    it('an id that nobody knows is a 404', async () => {
      const answer = await get('3f8d8a0e-0000-4000-8000-000000000000');
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toBe('application/problem+json');
    });
  });

  describe.concurrent('the list', () => {
    const list = (query: string) => service.call(`${EXECUTIONS}?${query}`);
    const ids = ({ json }: Answer) => json.items.map(({ mockId }: { mockId: string }) => mockId);

    it('has the newest first and no inputs or results', async () => {
      await using client = await service.clientThat(answers());
      const made: string[] = [];
      for (let count = 0; count < 3; count++) {
        made.unshift((await service.execute({ app: client.app, ruleId: 1 })).json.mockId);
        await reaches(made[0] ?? '', 'succeeded');
      }
      const page = await eventually(async () => {
        const answer = await list(`app=${client.app}`);
        expect(ids(answer)).toEqual(made);
        return answer;
      });
      expect(Object.keys(page.json.items[0])).toEqual([
        ...['mockId', 'app', 'ruleId', 'confId', 'ts', 'target', 'keyName', 'address', 'lane', 'state', 'history'],
        ...['warnings', 'ending', 'outcome', 'error', 'dryRun', 'comparisonId', 'derivedFrom', 'rules', 'timings'],
      ]);
    });

    it('has every open one on one of its pages, and then the settled ones', async () => {
      await using client = await service.clientThat((request) =>
        client.found.length > 1 ? undefined : answers()(request, client),
      );
      const settled = (await service.execute({ app: client.app, ruleId: 1 })).json.mockId;
      await reaches(settled, 'succeeded');
      const open = await Promise.all(Array.from({ length: 7 }, () => begin({ app: client.app, ruleId: 1 })));
      await Promise.all(open.map((mockId) => reaches(mockId, 'dispatched')));
      const pages: string[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list(`app=${client.app}&limit=3&cursor=${cursor}`);
        pages.push(ids(page));
        cursor = page.json.nextCursor;
      }
      expect(pages.map(({ length }) => length)).toEqual([3, 3, 2]);
      expect(pages.flat().at(-1)).toBe(settled);
      expect(new Set(pages.flat())).toEqual(new Set([...open, settled]));
      await Promise.all(open.map(cancel));
    });

    it('is walked page by page without a gap or a repetition, whatever comes in between', async () => {
      await using client = await service.clientThat(answers());
      const run = async () => (await service.execute({ app: client.app, ruleId: 1 })).json.mockId;
      const made = await Promise.all(Array.from({ length: 25 }, run));
      await vi.waitFor(async () => expect(ids(await list(`app=${client.app}&limit=100`))).toHaveLength(25), 60_000);
      const walked: string[] = [];
      let cursor = '';
      for (let pages = 0; pages < 10; pages++) {
        const page = await list(`app=${client.app}&limit=7&cursor=${cursor}`);
        walked.push(...ids(page));
        await run(); // newer than everything on the pages to come
        cursor = page.json.nextCursor;
        if (cursor === null) break;
      }
      expect(walked.slice().sort()).toEqual(made.slice().sort());
    });

    it('is filtered by app and rule', async () => {
      await using client = await service.clientThat(answers());
      const one = (await service.execute({ app: client.app, ruleId: 1 })).json.mockId;
      const other = (await service.execute({ app: client.app, ruleId: 9007199254740993n.toString() })).json?.mockId;
      expect(other).toBeUndefined(); // a string is no id
      const big = await service.execute(`{"app":${client.app},"ruleId":9007199254740993}`);
      await reaches(big.json.mockId, 'succeeded');
      await reaches(one, 'succeeded');
      const found = async (query: string) => ids(await list(query)).sort();
      await eventually(async () => expect(await found(`app=${client.app}`)).toEqual([one, big.json.mockId].sort()));
      expect(await found(`app=${client.app}&ruleId=9007199254740993`)).toEqual([big.json.mockId]);
      expect(await found(`app=${client.app}&ruleId=9007199254740992`)).toEqual([]);
      expect(await found(`app=${client.app}&ruleId=1&limit=&cursor=`)).toEqual([one]);
    });

    it('names every parameter that is wrong', async () => {
      const answer = await list('app=x&ruleId=-1&limit=0');
      expect(answer.status).toBe(400);
      expect(answer.json.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
        'app',
        'limit',
        'ruleId',
      ]);
      const { status, json } = await list('cursor=!!!');
      expect([status, json.errors]).toMatchObject([
        400,
        [{ field: 'cursor', message: 'is not one this service gave out' }],
      ]);
    });
  });

  describe.concurrent('its events', () => {
    it('begin with a snapshot, tell each state once with its ordinal, and end with the end state', async () => {
      const [go, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await using client = await service.clientThat(async (request) => {
        await go.promise;
        await request.pickUp();
        await answer.promise;
        await request.answer(resultText(request));
      });
      const mockId = await begin({ app: client.app, ruleId: 1 });
      await reaches(mockId, 'dispatched');
      const stream = await streamOf(mockId);
      expect(stream.status).toBe(200);
      expect(stream.headers['content-type']).toBe('text/event-stream');
      await vi.waitFor(() => expect(stream.events).toHaveLength(3), 60_000);
      go.resolve();
      await vi.waitFor(() => expect(stream.events).toHaveLength(4), 60_000);
      answer.resolve();
      await stream.ended;

      expect(stream.headers).toMatchObject({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' });
      const [snapshot, ...rest] = stream.events;
      expect(snapshot).toMatchObject({ event: 'snapshot', data: { mockId, state: 'dispatched', ending: null } });
      expect(rest.map(({ event, id, data }) => [event, id, data.state])).toEqual([
        ['state', '0', 'queued'],
        ['state', '1', 'dispatched'],
        ['state', '2', 'picked-up'],
        ['state', '3', 'succeeded'],
      ]);
      expect(rest[3]?.data).toEqual({
        state: 'succeeded',
        at: expect.any(Number),
        address: client.address,
        ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
      });
      expect(rest[1]?.data.ending).toBeNull();
    });

    it('who comes back gets what is missing, and 204 when nothing will come any more', async () => {
      await using client = await service.clientThat(answersAfter(100));
      const mockId = await begin({ app: client.app, ruleId: 1 });
      // A worker that is kept busy sees the pick-up and the answer at once: then there is no step between them.
      const ids = states(await reaches(mockId, 'succeeded')).map((_: string, id: number) => String(id));
      const resumed = await streamOf(mockId, '1');
      await resumed.ended;
      expect(resumed.events.map(({ id, data }) => id ?? data.state)).toEqual(['succeeded', ...ids.slice(2)]);
      expect((await streamOf(mockId, ids.at(-1))).status).toBe(204);
      const anew = await streamOf(mockId, 'nonsense');
      await anew.ended;
      expect(anew.events).toHaveLength(1 + ids.length);
    });

    it('of an instant client: the history told at its end is the one that stays', async () => {
      await using client = await service.clientThat(answers());
      const mockId = await begin({ app: client.app, ruleId: 1 });
      const stream = await streamOf(mockId);
      await stream.ended;
      const told = stream.events.slice(1).map(({ data }) => data.state);
      expect(told).toEqual(states(await reaches(mockId, 'succeeded')));
      expect((await streamOf(mockId, String(told.length - 1))).status).toBe(204);
    });

    it('of an id that nobody knows are a 404', async () => {
      expect((await streamOf('3f8d8a0e-0000-4000-8000-000000000000')).status).toBe(404);
    });
  });

  describe.concurrent('DELETE', () => {
    it('before the pick-up: the request is withdrawn, the caller hears of it, and it did not run', async () => {
      await using client = await service.clientThat(staysSilent);
      const answer = service.execute({ app: client.app, ruleId: 1 });
      const { mockId } = await client.firstRequest();
      expect((await cancel(mockId)).status).toBe(202);
      const { status, json } = await answer;
      expect([status, json.code, json.mayHaveRun]).toEqual([409, 'cancelled', false]);
      expect((await reaches(mockId, 'cancelled')).json.result).toEqual(json);
      const again = await cancel(mockId);
      expect([again.status, again.json]).toEqual([200, { mockId, state: 'cancelled' }]);
    });

    it('after the pick-up: it may have run', async () => {
      await using client = await service.clientThat(picksUpAndStaysSilent);
      const mockId = await begin({ app: client.app, ruleId: 1 });
      await reaches(mockId, 'picked-up');
      expect((await cancel(mockId)).status).toBe(202);
      expect((await reaches(mockId, 'cancelled')).json.ending).toEqual({
        ...{ status: 409, code: 'cancelled', reason: 'cancelled-after-pick-up', mayHaveRun: true },
        params: { address: client.address },
      });
    });

    it('after the end is a 409, of an unknown id a 404', async () => {
      await using client = await service.clientThat(answers());
      const { mockId } = (await service.execute({ app: client.app, ruleId: 1 })).json;
      await reaches(mockId, 'succeeded');
      expect((await cancel(mockId)).status).toBe(409);
      expect((await cancel('3f8d8a0e-0000-4000-8000-000000000000')).status).toBe(404);
    });
  });

  it('without a worker, an execution is cancelled at once and listed as such', async () => {
    await using lonely = await startService({ workers: 0 });
    const headers = { prefer: 'respond-async' };
    const { mockId } = (await lonely.execute({ app: 1, ruleId: 1 }, { headers })).json;
    expect((await lonely.call(`${EXECUTIONS}/${mockId}`)).json.state).toBe('queued');
    expect((await lonely.call(`${EXECUTIONS}/${mockId}`, { method: 'DELETE' })).status).toBe(202);
    const { json } = await lonely.call(`${EXECUTIONS}/${mockId}`);
    expect(json).toMatchObject({ state: 'cancelled', ending: { code: 'cancelled', mayHaveRun: true } });
    expect((await lonely.call(EXECUTIONS)).json.items).toMatchObject([{ mockId, state: 'cancelled' }]);
  });

  it('one that no worker took in time is in the history, with the time it waited', async () => {
    await using lonely = await startService({ workers: 0, settings: { QUEUE_TIMEOUT_MS: 500 } });
    const answer = await lonely.execute({ app: 1, ruleId: 1 });
    expect(answer.status).toBe(503);
    const { json } = await lonely.call(`${EXECUTIONS}/${answer.json.mockId}`);
    expect(json).toMatchObject({ state: 'rejected', ending: { status: 503 }, result: answer.json });
    expect(json.timings.queued).toBeGreaterThanOrEqual(500);
  });

  it('a stopping API ends its event streams, so that readers go on elsewhere', async () => {
    await using other = await startService({ leavesFiles: true, settings: PATIENT });
    await using client = await createResponder({ sharedDir: other.sharedDir, app: 1, does: staysSilent });
    const headers = { prefer: 'respond-async' };
    const { mockId } = (await other.execute({ app: 1, ruleId: 1 }, { headers })).json;
    await client.firstRequest();
    const stream = await openEventStream(`${other.url}${EXECUTIONS}/${mockId}/events`);
    await other.apis[0]?.stop();
    await stream.ended;
    expect(['queued', 'dispatched']).toContain(stream.events.at(-1)?.data.state);
  });
});

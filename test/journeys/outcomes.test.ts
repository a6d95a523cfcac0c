import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/http-call.ts';
import {
  answers,
  answersWith,
  errs,
  picksUpAndStaysSilent,
  removesItsDirectoryAfterPickUp,
  resultText,
  staysSilent,
  unregistersAfterPickUp,
} from '../support/responder.ts';
import { PATIENT, type Service, startService } from '../support/start-service.ts';

describe('every outcome has its status, code and sentence', () => {
  let service: Service;
  /** One whose executions are soon over when their client does not answer. */
  let hasty: Service;
  let apps = 100;
  beforeAll(async () => {
    service = await startService({ settings: PATIENT });
    hasty = await startService({ settings: { RESULT_TIMEOUT_MS: 4000 } });
  });
  afterAll(() => Promise.all([service.stop(), hasty.stop()]));

  describe.concurrent('when the client answers', () => {
    it('the result is the answer, member for member', async () => {
      const members = { 'the service': { a: 1 }, process: '[1:A:T:0]', executeAt: 42 };
      await using client = await service.clientThat(answers(members));
      const answer = await service.execute({ app: client.app, ruleId: 7 });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.text).toBe(client.found.map((request) => resultText(request, members)).join());
    });

    it('a failed rule is a 200 as well, with its own error', async () => {
      await using client = await service.clientThat(errs('no such leaf'));
      const { status, json } = await service.execute({ app: client.app, confId: 7 });
      expect(status).toBe(200);
      expect(json).toMatchObject({ success: false, process: null, error: 'no such leaf' });
    });

    it('what else it wrote passes through, and nothing of ours is added', async () => {
      await using client = await service.clientThat(answers({ trace: { node: [1, 2] }, ts: 5, warnings: ['x'] }));
      const { json } = await service.execute({ app: client.app, ruleId: 7 });
      expect(Object.keys(json)).toEqual(
        ['mockId', 'success', 'the service', 'process', 'error', 'executeAt'].concat('trace', 'ts', 'warnings'),
      );
    });

    it('the six members are there even when it wrote only one of them', async () => {
      await using client = await service.clientThat(answersWith('{"success":true}'));
      const { status, json } = await service.execute({ app: client.app, ruleId: 7 });
      expect(status).toBe(200);
      expect(json).toEqual({
        mockId: client.found[0]?.mockId,
        success: true,
        'the service': {},
        process: null,
        error: null,
        executeAt: expect.closeTo(Date.now(), -5),
      });
    });

    it('the request says what the caller said, and never null', async () => {
      await using client = await service.clientThat(answers());
      const request = { app: client.app, ruleId: 7, confId: null, ts: 0, 'the service': { a: null }, target: '' };
      await service.execute(request);
      const text = client.found[0]?.text ?? '';
      expect(JSON.parse(text)).toEqual({
        mockId: client.found[0]?.mockId,
        app: client.app,
        ruleId: 7,
        'the service': { a: null },
        target: 'all',
        createAt: expect.closeTo(Date.now(), -5),
      });
    });

    it('a published client is spoken to in its own words', async () => {
      await using client = await service.clientThat(
        answersWith((request) => {
          const { roam, iceId } = JSON.parse(request.text);
          return JSON.stringify({ success: true, roam: { ...roam, iceId }, process: '', ts: 1 });
        }),
        { as: 'python', address: 'host:1/app/x' },
      );
      const { json } = await service.execute({
        app: client.app,
        ruleId: 7,
        confId: 8,
        ts: 9,
        'the service': { a: 1 },
        target: 'address:host:1/app/x',
      });
      expect(json).toMatchObject({ success: true, 'the service': { a: 1, iceId: 7 }, process: '', error: null, ts: 1 });
      const [{ text = '', mockId = '' } = {}] = client.found;
      expect(JSON.parse(text)).toEqual({
        mockId,
        app: client.app,
        iceId: 7,
        confId: 8,
        ts: 9,
        roam: { a: 1 },
        createAt: expect.any(Number),
      });
    });
  });

  describe.concurrent('when there is nobody to ask', () => {
    it('no client at all: 503 no-client, at once', async () => {
      const app = ++apps;
      const answer = await service.execute({ app, ruleId: 1 });
      expectUnanswered(answer, { status: 503, code: 'no-client', mayHaveRun: false });
      expect(answer.json.reason).toBe('no-client-online');
      expect(answer.headers['retry-after']).toBe('5');
      const { timings } = (await service.call(`/rule-server/mock/executions/${answer.json.mockId}`)).json;
      expect(timings.total).toBeLessThan(service.settings.QUEUE_TIMEOUT_MS);
    });
  });

  describe.concurrent('when the request is never picked up', () => {
    it.each([
      ['our own client gives up when it is gone: it did not run', { as: 'rule' as const }, false],
      ['the Python client gives up as well: it did not run', { as: 'python' as const }, false],
      ['the Go client runs it all the same: it may have run', { as: 'go' as const }, true],
      ['nobody knows what a bare directory does: it may have run', { as: 'directory' as const }, true],
    ])('504 not-picked-up; %s', async (_, options, mayHaveRun) => {
      await using client = await hasty.clientThat(staysSilent, options);
      const answer = await hasty.execute({ app: client.app, ruleId: 1 });
      expectUnanswered(answer, { status: 504, code: 'not-picked-up', mayHaveRun });
      const { address } = client;
      expect(answer.json).toMatchObject({ reason: 'not-picked-up', params: { address, timeoutMs: 4000 }, mayHaveRun });
      expect(client.found).toHaveLength(1);
    });
  });

  describe.concurrent('when the client has the request', () => {
    it('and stays silent: 504 no-answer', async () => {
      await using client = await hasty.clientThat(picksUpAndStaysSilent);
      const answer = await hasty.execute({ app: client.app, ruleId: 1 });
      expectUnanswered(answer, { status: 504, code: 'no-answer', mayHaveRun: true });
      expect(answer.json.reason).toBe('silent');
    });

    it('and unregisters: 504 client-left, without waiting for the end of time', async () => {
      await using client = await service.clientThat(unregistersAfterPickUp);
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expectUnanswered(answer, { status: 504, code: 'client-left', mayHaveRun: true });
      expect(answer.json.reason).toBe('left-with-request');
    });

    it('and leaves with its directory: 504 client-left', async () => {
      await using client = await service.clientThat(async (request, self) => {
        await request.pickUp();
        await self.removeDirectory();
        await self.unregister();
      });
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expectUnanswered(answer, { status: 504, code: 'client-left', mayHaveRun: true });
    });

    it('and was nothing but a directory that is gone: 504 client-left', async () => {
      await using client = await service.clientThat(removesItsDirectoryAfterPickUp, { as: 'directory' });
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expectUnanswered(answer, { status: 504, code: 'client-left', mayHaveRun: true });
    });

    it('and only its directory goes, as cleaners do: the directory comes back and the answer gets through', async () => {
      await using client = await service.clientThat(async (request, self) => {
        await request.pickUp();
        await self.removeDirectory();
        await answerWhenPossible(request);
      });
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expect(answer.status).toBe(200);
    });

    it('and unregisters before it picks it up: 504 client-left, and it did not run', async () => {
      await using client = await service.clientThat((_request, self) => self.unregister());
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expectUnanswered(answer, { status: 504, code: 'client-left', mayHaveRun: false });
      expect(answer.json.reason).toBe('left-before-pick-up');
    });
  });
});

type Expected = { status: number; code: string; mayHaveRun: boolean };

/** The shape of a result, with the reason there is none. */
function expectUnanswered({ status, headers, json }: Answer, expected: Expected): void {
  expect(json).toEqual({
    mockId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    success: false,
    'the service': {},
    process: null,
    error: expect.stringMatching(/\.$/),
    executeAt: expect.closeTo(Date.now(), -5),
    code: expected.code,
    reason: expect.any(String),
    params: expect.any(Object),
    mayHaveRun: expected.mayHaveRun,
  });
  expect(status).toBe(expected.status);
  expect(headers['content-type']).toBe('application/json');
}

/** A client that lives through a cleaner tries to write its answer until it can. */
async function answerWhenPossible(request: { mockId: string; answer(text: string): Promise<void> }): Promise<void> {
  await untilDone(() => request.answer(resultText(request)));
}

async function untilDone(task: () => Promise<unknown>): Promise<void> {
  for (;;) {
    const done = await task().then(
      () => true,
      () => false,
    );
    if (done) return;
    await delay(20);
  }
}

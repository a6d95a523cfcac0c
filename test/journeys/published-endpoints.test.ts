import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProcess } from '../../src/shared/ports/process.ts';
import { type Time, timeOf } from '../../src/shared/ports/time.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { answers, createResponder, errs, picksUpAndStaysSilent, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const KEY = 'a-key-of-16-characters';
const EXECUTE = '/ice-server/mock/execute';

describe('the endpoints of the published server', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ settings: { ICE_ENDPOINTS: 1, RESULT_TIMEOUT_MS: 1500 } });
  });
  afterAll(() => service.stop());

  const execute = (body: unknown, headers = {}) =>
    service.call(EXECUTE, {
      method: 'POST',
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  describe.concurrent('execute', () => {
    it('takes iceId and roam, and answers with roam in the envelope, every number as the client wrote it', async () => {
      await using client = await service.clientThat(
        ({ answer, mockId, pickUp }) =>
          pickUp().then(() =>
            answer(
              `{"mockId":"${mockId}","success":true,"roam":{"uid":9007199254740993,"none":null},"process":"[1:A:T:0]","error":null,"ts":1e3}`,
            ),
          ),
        { as: 'python' },
      );
      const { status, text } = await execute(`{"app":${client.app},"iceId":7,"confId":null,"roam":{"uid":1e300}}`);
      expect(status).toBe(200);
      expect(text).toMatch(
        /^\{"ret":0,"data":\{"mockId":"[\w-]+","success":true,"roam":\{"uid":9007199254740993,"none":null\},"process":"\[1:A:T:0\]","ts":1e3,"executeAt":\d+\}\}$/,
      );
      expect(client.found.map((request) => request.text).join()).toContain('"iceId":7,"roam":{"uid":1e300}');
    });

    it('a rule that failed says so as its client did', async () => {
      await using client = await service.clientThat(errs('no such leaf'));
      const { status, json } = await execute({ app: client.app, iceId: 7 });
      expect({ status, json }).toMatchObject({ status: 200, json: { ret: 0, data: { error: 'no such leaf' } } });
      expect(json.data.success).toBe(false);
    });

    it('a target without a form is an address', async () => {
      await using client = await service.clientThat(answers());
      expect((await execute({ app: client.app, iceId: 7, target: client.address })).json.data.success).toBe(true);
    });

    it('an address that is gone is said at once to be offline, with the fallback mark', async () => {
      await using client = await service.clientThat(answers());
      const { status, json } = await execute({ app: client.app, iceId: 7, target: 'address:gone' });
      expect({ status, json }).toMatchObject({ status: 200, json: { ret: 0, data: { mockId: '', fallback: true } } });
      expect(json.data.error).toMatch(/gone.*\[no-client\]$/);
    });

    it('without any client it is an error at once, and not a wait of a minute', async () => {
      const { status, json } = await execute({ app: 99, iceId: 7 });
      expect({ status, ret: json.ret }).toEqual({ status: 200, ret: -1 });
      expect(json.msg).toMatch(/\[no-client\]$/);
    });

    it('a request that nobody took is a timeout in the words of that server', async () => {
      await using client = await service.clientThat(staysSilent);
      const { status, json } = await execute({ app: client.app, iceId: 7 });
      expect({ status, ret: json.ret }).toEqual({ status: 200, ret: 0 });
      expect(json.data).toMatchObject({ success: false, mockId: expect.stringMatching(/^[\w-]{36}$/) });
      expect(json.data.error).toMatch(/^timeout waiting for client response: .*\[not-picked-up\]$/);
    });

    it('what that server has no words for stands in the error', async () => {
      await using client = await service.clientThat(picksUpAndStaysSilent);
      const { json } = await execute({ app: client.app, iceId: 7 });
      expect(json.data.error).toMatch(/wrote no answer .*\[no-answer\]$/);
    });

    it.each([
      ['{"iceId":1}', -2, 'app is required'],
      ['{"app":0,"iceId":1}', -2, 'app is required'],
      ['{"app":1}', -2, 'one of iceId, confId or scene is required'],
      ['{"app":1,"iceId":0,"confId":null}', -2, 'one of iceId, confId or scene is required'],
      ['{"app":1,"scene":"pay"}', -1, 'scene: names no rule: app 1 has released none in it'],
      ['{"app":"1","iceId":1}', -1, /^app must be an integer/],
      ['{"app":1,"iceId":"7"}', -1, /^iceId must be an integer/],
      ['{"app":1,"iceId":1,"roam":[]}', -1, /^roam must be a JSON object/],
      ['{"app":1,"iceId":1', -1, 'the body is not JSON: it ends too early, after 18 characters'],
      ['[]', -1, 'the body must be a JSON object'],
      ['{"app":1,"iceId":1,"roam":{"a":1,"a":2}}', -1, /a is given twice/],
    ])('%s is refused with %i', async (body, ret, message) => {
      const { status, json } = await execute(body);
      expect(status).toBe(200);
      expect(json).toEqual({ ret, msg: typeof message === 'string' ? message : expect.stringMatching(message) });
    });

    it('members it does not know are ignored', async () => {
      await using client = await service.clientThat(answers());
      const ours = { ruleId: 3, 'the service': { b: 2 }, comparisonId: 'x' };
      const { json } = await execute({ app: client.app, iceId: 7, roam: { a: 1 }, ...ours, more: true });
      expect(json.data.success).toBe(true);
      expect(JSON.parse(client.found[0]?.text ?? '')).toMatchObject({ ruleId: 7, 'the service': { a: 1 } });
    });

    it('a form of a foreign page keeps its 415, and a body that is too large its 413, both in the envelope', async () => {
      const form = await execute('app=1', { origin: 'https://elsewhere.example', 'content-type': 'text/plain' });
      expect({ status: form.status, json: form.json }).toMatchObject({ status: 415, json: { ret: -1 } });
      const large = await execute(`{"app":1,"iceId":1,"roam":{"a":"${'x'.repeat(1_100_000)}"}}`);
      expect({ status: large.status, json: large.json }).toMatchObject({ status: 413, json: { ret: -1 } });
    });
  });

  it('schema: the fields of the captured app, with union keys that can be filled in', async () => {
    await cp(join(import.meta.dirname, '../fixtures/app-7'), join(service.sharedDir, '7'), { recursive: true });
    const { status, json } = await service.call('/ice-server/mock/schema?app=7&iceId=1');
    expect({ status, ret: json.ret }).toEqual({ status: 200, ret: 0 });
    expect(json.data).not.toHaveProperty('fallback');
    const unknown = await service.call('/ice-server/mock/schema?app=7&iceId=999');
    expect(unknown.text).toBe('{"ret":0,"data":null}');
    const bad = await service.call('/ice-server/mock/schema?app=7');
    expect(bad.json).toMatchObject({ ret: -2 });
  });

  it('a wrong method is an error in the envelope, an unknown path is not found', async () => {
    expect((await service.call(EXECUTE)).json).toMatchObject({ ret: -1 });
    expect((await service.call('/ice-server/mock/other')).status).toBe(404);
  });
});

it('without a key they answer 401, in the envelope as well', async () => {
  await using service = await startService({ settings: { ICE_ENDPOINTS: 1, API_KEYS: `page:${KEY}` } });
  const body = '{"app":1,"iceId":1}';
  const refused = await service.call(EXECUTE, { method: 'POST', body });
  expect({ status: refused.status, json: refused.json }).toMatchObject({ status: 401, json: { ret: -1 } });
  const allowed = await service.call(EXECUTE, { method: 'POST', body, headers: { authorization: `Bearer ${KEY}` } });
  expect(allowed.json).toMatchObject({ ret: -1, msg: expect.stringContaining('[no-client]') });
});

describe('an execution that its client has for longer than the page of the published server waits', () => {
  it('is answered before that page gives up at 60 s, and counts among the open calls of its key as long as it runs', async () => {
    const [waits, real] = [new Set<() => void>(), timeOf()];
    const shortOfAMinute = (ms: number) => ms > 50_000 && ms < 60_000;
    const setTimeout: Time['setTimeout'] = (run, ms) => {
      if (shortOfAMinute(ms)) waits.add(run);
      return real.setTimeout(run, ms);
    };
    const settings = { ICE_ENDPOINTS: 1, API_KEYS: `page:${KEY}`, KEY_OPEN_CALLS: 1, RESULT_TIMEOUT_MS: 80_000 };
    const own = createProcess(timeOf.as({ ...real, setTimeout }));
    await using service = await own.run(() => startService({ settings, leavesFiles: true }));
    const answerNow = Promise.withResolvers<void>();
    await using client = await createResponder({
      ...{ sharedDir: service.sharedDir, app: 1 },
      does: echoes({ once: answerNow.promise }),
    });
    using _answered = { [Symbol.dispose]: () => answerNow.resolve() };
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const call = (path: string, rule: object) =>
      service.call(path, { method: 'POST', headers, body: JSON.stringify({ app: 1, ...rule }) });

    const page = call(EXECUTE, { iceId: 7 });
    const { requestPath } = await client.firstRequest();
    await eventually(() => expect(existsSync(requestPath)).toBe(false));
    for (const over of waits) over();
    expect((await page).json).toMatchObject({
      ...{ ret: 0, data: { success: false, error: 'timeout waiting for client response' } },
    });
    const ours = () => call('/rule-server/mock/execute', { ruleId: 7 });
    expect([(await ours()).status, client.found.length]).toEqual([429, 1]);
    answerNow.resolve();
    await eventually(async () => expect((await ours()).status).toBe(200));
  });
});

it('they are not there unless ICE_ENDPOINTS asks for them', async () => {
  await using service = await startService();
  expect((await service.call(EXECUTE, { method: 'POST', body: '{}' })).status).toBe(404);
});

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createOpenApiDocument, operations } from '../../../src/api/openapi/document.ts';
import { createAnswerChecks } from '../../support/answer-checks.ts';
import { eventually } from '../../support/eventually.ts';
import type { Answer, Call } from '../../support/http-call.ts';
import { httpCall } from '../../support/http-call.ts';
import { startRedis } from '../../support/redis.ts';
import {
  answers,
  answersAfter,
  answersWith,
  type Behaviour,
  errs,
  picksUpAndStaysSilent,
  resultText,
  staysSilent,
} from '../../support/responder.ts';
import { type Service, startService } from '../../support/start-service.ts';

const checks = createAnswerChecks(createOpenApiDocument('0.0.0'));
const MOCK = '/rule-server/mock';
const NOBODY = '3f8d8a0e-0000-4000-8000-000000000000';
/** An app of which nothing is kept. */
const FORGOTTEN = 999_999;
/** What no test can bring about: a fault of ours. */
const NEVER = 500;

describe('every answer matches the schema that is documented for it', () => {
  const seen = new Set<string>();
  let service: Service;
  /** One whose executions are soon over when their client does not answer. */
  let hasty: Service;
  let guarded: Service;
  let apps = 800;
  beforeAll(async () => {
    service = await startService({ settings: { HISTORY_OFF: FORGOTTEN }, leavesFiles: true });
    hasty = await startService({ settings: { RESULT_TIMEOUT_MS: 1500 }, leavesFiles: true });
    guarded = await startService({ workers: 0, settings: { API_KEYS: 'tester:0123456789abcdef' } });
  });
  afterAll(async () => {
    await service?.stop();
    await hasty?.stop();
    await guarded?.stop();
  });

  function operationAt(method: string, path: string) {
    const found = operations.find((operation) => {
      const pattern = operation.path.replace(/\{\w+\}/g, '[^/]+');
      return operation.method.toUpperCase() === method && new RegExp(`^${pattern}$`).test(path);
    });
    if (!found) throw new Error(`${method} ${path} is not documented`);
    return found;
  }

  /** Calls, and checks the answer against what is documented for its status. */
  async function call(path: string, more: Call = {}, base = service.url): Promise<Answer> {
    const { method = 'GET' } = more;
    const { id, answers: documented } = operationAt(method, path.split('?')[0] ?? '');
    const answer = await httpCall(`${base}${path}`, more);
    const { status, text } = answer;
    seen.add(`${id} ${status}`);
    expect(Object.keys(documented), `${id} answered ${text}`).toContain(String(status));
    if (status === 204 || status === 304) expect(text).toBe('');
    else {
      const type = String(answer.headers['content-type']).split(';')[0] ?? '';
      expect(checks.problems(id, status, type.includes('json') ? answer.json : text, type)).toEqual([]);
    }
    return answer;
  }

  const execute = (body: unknown, headers: Record<string, string> = {}, { url }: { url: string } = service) =>
    call(
      `${MOCK}/execute`,
      { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } },
      url,
    );
  const write = async (text: string, ...parts: (string | number)[]) => {
    const path = join(service.sharedDir, ...parts.map(String));
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
  };

  it('the documented examples, sent as they are', async () => {
    await using client = await service.clientThat(
      answersWith((request) => resultText(request, request.text.includes('"dryRun"') ? { dryRun: true } : {})),
      { app: 9001, address: 'orders-7f9c_4a1b2', dryRun: true },
    );
    await using lane = await service.clientThat(answers(), { app: 9001, lane: 'beta' });
    await write('{"id":1,"app":9001,"status":1,"confId":2,"name":"Recharge"}', 9001, 'bases', '1.json');
    await write('18', 9001, 'version.txt');
    await write('{"id":2,"app":9001,"status":1,"type":1,"sonIds":"41,7,9"}', 9001, 'confs', '2.json');
    for (const id of [41, 7, 9])
      await write(`{"id":${id},"app":9001,"status":1,"type":5,"confName":"com.sample.A"}`, 9001, 'confs', `${id}.json`);
    await call(`${MOCK}/cases?app=9001&ruleId=1`, {
      method: 'PUT',
      body: 'cases: []',
      headers: { 'if-none-match': '*' },
    });
    for (const { method, path, queryExample, body, id } of operations) {
      if (path.includes('{') || method !== 'get') continue;
      const query = Object.entries(queryExample ?? {}).map(([name, value]) => `${name}=${value}`);
      expect((await call(query.length > 0 ? `${path}?${query.join('&')}` : path)).status, id).toBe(200);
      expect(body).toBeUndefined();
    }
    const bodies = Object.values(operations.find(({ id }) => id === 'execute')?.body?.examples ?? {});
    expect(bodies.length).toBeGreaterThan(2);
    for (const example of bodies) expect((await execute(example)).status).toBe(200);
    expect(client.found.length + lane.found.length).toBe(bodies.length);
  });

  it('execute, however it ends', async () => {
    const statusOf = async (does: Behaviour, headers?: Record<string, string>, at = service) => {
      await using client = await at.clientThat(does);
      return (await execute({ app: client.app, ruleId: 1 }, headers, at)).status;
    };
    expect(await statusOf(errs('no such leaf'))).toBe(200);
    expect(await statusOf(answers({ more: { of: ['mine'] }, process: null }))).toBe(200);
    expect(await statusOf(answersWith('null'))).toBe(502);
    expect(await statusOf(staysSilent, {}, hasty)).toBe(504);
    expect(await statusOf(picksUpAndStaysSilent, {}, hasty)).toBe(504);
    expect(await statusOf(answers(), { prefer: 'respond-async' })).toBe(202);
    expect((await execute({ app: ++apps, ruleId: 1 })).status).toBe(503);
    expect((await execute({ app: 'x', roam: {} })).status).toBe(400);
    expect((await execute({}, { origin: 'http://127.0.0.1', 'content-type': 'text/plain' })).status).toBe(415);
    expect((await execute({ app: 1, ruleId: 1, more: 'x'.repeat(2 ** 20) })).status).toBe(413);
    await using client = await service.clientThat(answers());
    const key = { 'idempotency-key': 'k' };
    await execute({ app: client.app, ruleId: 1 }, key);
    expect((await execute({ app: client.app, ruleId: 2 }, key)).status).toBe(422);
  });

  it('an execution through its life', async () => {
    const go = Promise.withResolvers<void>();
    await using client = await service.clientThat(async (request) => {
      await go.promise;
      await answersAfter(50)(request, client);
    });
    const one = `${MOCK}/executions/${(await execute({ app: client.app, ruleId: 1 }, { prefer: 'respond-async' })).json.mockId}`;
    await client.firstRequest();
    expect((await call(one)).json.result).toBeNull();
    expect((await call(`${MOCK}/executions?app=${client.app}`)).json.items).toHaveLength(1);
    const events = call(`${one}/events`);
    go.resolve();
    expect((await events).text).toContain('"succeeded"');
    expect((await call(one)).json.state).toBe('succeeded');
    expect((await call(`${one}/events`, { headers: { 'last-event-id': '3' } })).status).toBe(204);
    expect((await call(one, { method: 'DELETE' })).status).toBe(409);
    const page = await call(`${MOCK}/executions?limit=1`);
    expect((await call(`${MOCK}/executions?cursor=${page.json.nextCursor}`)).status).toBe(200);
    expect((await call(`${MOCK}/executions?limit=0`)).status).toBe(400);
    expect((await call(`${MOCK}/failures`)).json.items.length).toBeGreaterThan(0);
    expect((await call(`${MOCK}/failures?from=x`)).status).toBe(400);
    expect((await call(`${MOCK}/failures?from=2026-10-25T02:30`)).text).toContain('is not a time with an offset');
    expect((await call(`${MOCK}/kept`)).json.executions).toBeGreaterThan(0);
    expect((await call(`${one}/pin`, { method: 'PUT' })).status).toBe(204);
    expect((await call(one)).json).toMatchObject({ pinned: true, keptUntil: null });
    expect((await call(`${one}/pin`, { method: 'DELETE' })).status).toBe(204);
    expect((await call(`${one}?include=input`)).status).toBe(400);
    expect((await call(`${one}?include=tree`)).json).toHaveProperty('tree');
    expect((await call(`${one}?erase=x`, { method: 'DELETE' })).status).toBe(400);
    for (const [method, path] of [
      ['GET', `${MOCK}/executions/${NOBODY}`],
      ['GET', `${MOCK}/executions/${NOBODY}/events`],
      ['DELETE', `${MOCK}/executions/${NOBODY}`],
      ['PUT', `${MOCK}/executions/${NOBODY}/pin`],
      ['DELETE', `${MOCK}/executions/${NOBODY}/pin`],
    ] as const)
      expect((await call(path, { method })).status).toBe(404);
  });

  it('one of which nothing is kept', async () => {
    const { mockId } = (await execute({ app: FORGOTTEN, ruleId: 1 })).json;
    expect((await call(`${MOCK}/executions/${mockId}`)).status).toBe(410);
  });

  it('one that is cancelled', async () => {
    await using client = await service.clientThat(staysSilent);
    const answer = execute({ app: client.app, ruleId: 1 });
    const one = `${MOCK}/executions/${(await client.firstRequest()).mockId}`;
    expect((await call(`${one}/pin`, { method: 'PUT' })).status).toBe(409);
    expect((await call(one, { method: 'DELETE' })).status).toBe(202);
    expect((await answer).status).toBe(409);
    await eventually(async () => expect((await call(one, { method: 'DELETE' })).status).toBe(200));
    expect((await call(one)).json.ending.code).toBe('cancelled');
  });

  it('rules and clients that are not there, or not right', async () => {
    await write('{"id":1,"app":3,"status":1,"confId":1}', 3, 'bases', '1.json');
    for (let id = 1; id <= 95; id++)
      await write(`{"id":${id},"app":3,"status":1,"type":1,"sonIds":"${id + 1}"}`, 3, 'confs', `${id}.json`);
    expect((await call(`${MOCK}/tree?app=3&ruleId=1`)).status).toBe(422);
    expect((await call(`${MOCK}/tree?app=3&confId=96`)).status).toBe(404);
    expect((await call(`${MOCK}/tree?app=3&confId=90`)).json.missing).toEqual([96]);
    expect((await call(`${MOCK}/versions?app=3&ruleId=1&version=1`)).json.code).toBe('unknown-version');
    expect((await call(`${MOCK}/schema?app=3&ruleId=77`)).status).toBe(404);
    await write('{"id":1,"app":4,"status":1,"confId":1}', 4, 'bases', '1.json');
    await write('{"id":1,"app":4,"status":1,"type":1,"sonIds":"2"}', 4, 'confs', '1.json');
    await write('{"id":2,"app":4,"status":1,"type":1,"sonIds":"1"}', 4, 'confs', '2.json');
    expect((await call(`${MOCK}/tree?app=4&ruleId=1`)).json.cycle).toEqual([1, 2]);
    await mkdir(join(service.sharedDir, 'clients'), { recursive: true });
    await symlink('/tmp', join(service.sharedDir, 'clients', '5'));
    expect((await call(`${MOCK}/clients?app=5`)).status).toBe(422);
    expect((await call(`${MOCK}/readiness?app=4`)).json.rules[0].findings[0].code).toBe('circle');
    expect((await call(`${MOCK}/readiness?app=4&ruleId=77`)).status).toBe(404);
    for (let id = 1; id <= 501; id++) await write(`{"id":${id},"app":6,"status":1}`, 6, 'bases', `${id}.json`);
    expect((await call(`${MOCK}/readiness?app=6`)).status).toBe(422);
    for (const path of ['schema', 'tree', 'versions', 'rules', 'clients', 'readiness'])
      expect((await call(`${MOCK}/${path}?app=-1`)).status).toBe(400);
  });

  it('without a key', async () => {
    for (const { method, path, open } of operations) {
      const { status } = await call(path.replace(/\{\w+\}/g, NOBODY), { method: method.toUpperCase() }, guarded.url);
      if (path === '/session' && open) expect(status).toBe(method === 'post' ? 400 : 204);
      else expect(status).toBe(open ? 200 : 401);
    }
  });

  it('with a key that asks too often', async () => {
    const settings = { API_KEYS: 'tester:0123456789abcdef', KEY_CALLS_PER_SECOND: 1, QUEUE_TIMEOUT_MS: 300 };
    await using busy = await startService({ workers: 0, settings });
    const headers = { authorization: 'Bearer 0123456789abcdef' };
    const refused = async ({ method, path }: (typeof operations)[number]) => {
      const more = { method: method.toUpperCase(), headers };
      const answer = await call(path.replace(/\{\w+\}/g, NOBODY), more, busy.url);
      if (answer.status !== 429) return false; // it was the one call of its second
      expect(answer.headers['retry-after'], path).toBe('1');
      return true;
    };
    const guardedOnes = operations.filter(({ open }) => !open);
    await Promise.all(guardedOnes.map((operation) => vi.waitUntil(() => refused(operation), { timeout: 60_000 })));
  });

  it('a batch through its life, and one that is not kept any more', async () => {
    await using client = await service.clientThat(answersAfter(200));
    const batches = `${MOCK}/batches`;
    const body = { app: client.app, ruleId: 1, cases: [{ 'the service': { n: 1 }, expect: { outcome: 'TRUE' } }] };
    const run = (more: object, headers: Record<string, string> = {}, to = service.url) =>
      call(
        batches,
        {
          method: 'POST',
          body: JSON.stringify({ ...body, ...more }),
          headers: { 'content-type': 'application/json', ...headers },
        },
        to,
      );
    const key = { 'idempotency-key': 'k' };
    const { batchId } = (await run({}, key)).json;
    const one = `${batches}/${batchId}`;
    expect((await run({ concurrency: 2 }, key)).status).toBe(422);
    expect((await call(one, { method: 'DELETE' })).status).toBe(202);
    await vi.waitFor(async () => expect((await call(one)).json.state).toBe('cancelled'), { timeout: 60_000 });
    expect((await call(one, { method: 'DELETE' })).status).toBe(200);
    const second = `${batches}/${(await run({})).json.batchId}`;
    expect((await call(`${second}/events`)).text).toContain('event: snapshot');
    expect((await call(second, { method: 'DELETE' })).status).toBe(409);
    for (const part of ['/items', '/items/1', '/coverage', '/report?format=junit'])
      expect((await call(`${second}${part}`)).status, part).toBe(200);
    for (const part of ['/items?limit=x', '/coverage?target=a&target=b', '/report?format=x'])
      expect((await call(`${second}${part}`)).status, part).toBe(400);
    expect((await call(`${batches}?app=x`)).status).toBe(400);
    expect((await run({ cases: [] })).status).toBe(400);
    expect((await run({ cases: undefined, from: NOBODY })).status).toBe(404);
    expect((await run({}, { origin: 'http://127.0.0.1', 'content-type': 'text/plain' })).status).toBe(415);
    expect((await run({ file: 'x'.repeat(17 * 2 ** 20) })).status).toBe(413);

    await using small = await startService({ settings: { BATCH_BYTES: 2000 }, sharedDir: service.sharedDir });
    const first = (await run({ file: 'x'.repeat(1000) }, {}, small.url)).json.batchId;
    await call(`${batches}/${first}/events`, {}, small.url);
    await run({ file: 'x'.repeat(1000) }, {}, small.url);
    expect((await run({ cases: undefined, from: first }, {}, small.url)).status).toBe(410);
    for (const { method, path, id } of operations) {
      if (!path.includes('{batchId}')) continue;
      const ask = (which: string, to: string) =>
        call(path.replace('{batchId}', which).replace('{n}', '1'), { method: method.toUpperCase() }, to);
      expect((await ask(NOBODY, service.url)).status, id).toBe(404);
      expect((await ask(first, small.url)).status, id).toBe(410);
    }
  });

  it('saved cases', async () => {
    const cases = `${MOCK}/cases?app=77&ruleId=1`;
    const first = { 'if-none-match': '*' };
    const send = (method: string, body: string, headers: Record<string, string>, path = cases) =>
      call(path, { method, headers, ...(method !== 'DELETE' && { body }) });
    expect((await call(cases)).status).toBe(404);
    expect((await call(`${cases}&confId=1`)).status).toBe(400);
    const { etag } = (await send('PUT', 'cases: []', first)).json;
    expect((await call(cases)).status).toBe(200);
    expect((await call(`${MOCK}/cases?app=77`)).json.items).toHaveLength(1);
    expect((await call(cases, { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await send('POST', '{"upsert":{"name":"a"}}', { 'if-match': etag })).status).toBe(200);
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const body = method === 'POST' ? '{"remove":"a"}' : 'cases: []\n';
      expect((await send(method, body, {})).status).toBe(428);
      expect((await send(method, body, { 'if-match': etag })).status).toBe(412);
      expect((await send(method, 'x', first, `${MOCK}/cases`)).status).toBe(400);
      if (method !== 'DELETE') expect((await send(method, 'x'.repeat(2 ** 20 + 1), first)).status).toBe(413);
    }
    const now = String((await call(cases)).headers.etag);
    expect((await send('DELETE', '', { 'if-match': now })).status).toBe(204);
    const file = join(service.sharedDir, '.rule-server', 'cases', '77', 'conf-1.yaml');
    await symlink('/tmp', file);
    for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
      const body = method === 'POST' ? '{"upsert":{"name":"a"}}' : 'cases: []';
      const more = method === 'GET' ? {} : { headers: first, ...(method !== 'DELETE' && { body }) };
      expect((await call(`${MOCK}/cases?app=77&confId=1`, { method, ...more })).status, method).toBe(422);
    }
  });

  it('under a name of somebody else, or with a key that is none', async () => {
    for (const { method, path, id } of operations) {
      const headers = { host: 'elsewhere.example' };
      const { status } = await call(path.replace('{mockId}', NOBODY), { method: method.toUpperCase(), headers });
      expect(status, id).toBe(['healthz', 'readyz'].includes(id) ? 200 : 403);
    }
    const signIn = (key: string) => call('/session', { method: 'POST', body: JSON.stringify({ key }) }, guarded.url);
    expect((await signIn('0123456789abcdef')).status).toBe(204);
    expect((await signIn('another')).status).toBe(401);
  });

  const choice = inject('redis');
  // A server that somebody else runs is not stopped.
  describe.skipIf(choice.kind === 'unavailable' || choice.kind === 'url')('without the queue store', () => {
    it('503 everywhere but where only the process is asked for', async () => {
      const redis = await startRedis(choice);
      await using lonely = await startService({ queueUrl: redis.url, workers: 0, settings: { QUEUE_TIMEOUT_MS: 500 } });
      await redis.stop();
      await vi.waitFor(async () => expect((await lonely.call('/readyz')).status).toBe(503), { timeout: 60_000 });
      for (const { method, path, queryExample, body } of operations) {
        const query = Object.entries(queryExample ?? {}).map(([name, value]) => `${name}=${value}`);
        const [example] = Object.values(body?.examples ?? {});
        const { status } = await call(
          `${path.replace(/\{\w+\}/g, NOBODY)}?${query.join('&')}`,
          { method: method.toUpperCase(), ...(example ? { body: JSON.stringify(example) } : {}) },
          lonely.url,
        );
        const alone =
          ['/healthz', '/metrics', '/openapi.json'].includes(path) || (path === '/session' && method === 'get');
        const usual = alone ? 200 : 503;
        expect(status, path).toBe(path === '/session' && method !== 'get' ? 204 : usual);
      }
    });

    it('503 to who signs in or out: sessions are kept there', async () => {
      const redis = await startRedis(choice);
      const settings = { API_KEYS: 'tester:0123456789abcdef' };
      await using lonely = await startService({ queueUrl: redis.url, workers: 0, settings });
      const body = JSON.stringify({ key: '0123456789abcdef' });
      const { headers } = await call('/session', { method: 'POST', body }, lonely.url);
      const cookie = String(headers['set-cookie']?.[0]?.split(';')[0]);
      await redis.stop();
      expect((await call('/session', { method: 'POST', body }, lonely.url)).status).toBe(503);
      expect((await call('/session', { method: 'DELETE', headers: { cookie } }, lonely.url)).status).toBe(503);
    });

    it('and nothing is documented that was not seen here', () => {
      const documented = operations.flatMap(({ id, answers: all }) =>
        Object.keys(all).map((status) => `${id} ${status}`),
      );
      const missing = documented.filter((answer) => !seen.has(answer) && !answer.endsWith(` ${NEVER}`));
      expect(missing).toEqual([]);
    });
  });
});

import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { apiWaitMs } from '../../src/shared/runtime/settings/settings.ts';
import { echoes } from '../support/echoes.ts';
import { openEventStream } from '../support/event-stream.ts';
import {
  answers,
  answersAfter,
  answersWith,
  type Behaviour,
  createResponder,
  resultText,
  staysSilent,
} from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

type Batch = {
  batchId: string;
  state: string;
  counts: Record<string, number>;
  targets: { counts: Record<string, number> }[];
};
const over = ['finished', 'cancelled'];

const post = async (service: Service, body: unknown, headers: Record<string, string> = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return service.call('/rule-server/mock/batches', {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...headers },
  });
};
const read = async (service: Service, id: string): Promise<Batch> =>
  JSON.parse((await service.call(`/rule-server/mock/batches/${id}`)).text);
const begin = async (service: Service, body: Record<string, unknown>): Promise<string> => {
  const answer = await post(service, { ruleId: 1, ...body });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return JSON.parse(answer.text).batchId;
};
const ended = async (service: Service, id: string): Promise<Batch> =>
  vi.waitFor(
    async () => {
      const batch = await read(service, id);
      expect(over).toContain(batch.state);
      return batch;
    },
    { timeout: 60_000, interval: 50 },
  );
const get = async (service: Service, id: string, path: string) =>
  JSON.parse((await service.call(`/rule-server/mock/batches/${id}${path}`)).text);
const inputs = (count: number) => Array.from({ length: count }, (_, n) => ({ 'the service': { n } }));
const clientOf = (
  service: Service,
  does: Behaviour,
  more: { app?: number; lane?: string; as?: 'rule' | 'python'; address?: string } = {},
) => createResponder({ sharedDir: service.sharedDir, app: 1, does, ...more });

describe('a batch', () => {
  it('runs every case on every target, exactly, and tells how the lanes differ', async () => {
    await using service = await startService();
    await using trunk = await clientOf(service, answers({ 'the service': { amount: 20 }, process: '[1:root:T:0]' }));
    await using beta = await clientOf(
      service,
      answers({ 'the service': { amount: 25 }, process: '[2:more:T:0][1:root:T:0]' }),
      {
        lane: 'beta',
      },
    );
    const body =
      '{"app":1,"ruleId":1,"targets":["all","lane:beta"],"cases":[' +
      '{"name":"one","the service":{"2":9007199254740993,"1":0.10},"expect":{"outcome":"TRUE","data":{"amount":20.0}}},' +
      '{"the service":{},"skip":true}]}';
    const answer = await post(service, body);
    const { batchId } = JSON.parse(answer.text);
    expect(answer.headers.location).toBe(`/rule-server/mock/batches/${batchId}`);
    expect(await ended(service, batchId)).toMatchObject({
      state: 'finished',
      counts: { passed: 1, failed: 1, skipped: 2, pending: 0 },
      targets: [{ counts: { passed: 1 } }, { counts: { failed: 1 } }],
    });
    for (const client of [trunk, beta])
      expect(client.found.map(({ text }) => text.includes('{"2":9007199254740993,"1":0.10}'))).toEqual([true]);
    const { items } = await get(service, batchId, '/items?verdict=failed');
    expect(items.map((item: { n: number; verdict: string }) => [item.n, item.verdict])).toEqual([[2, 'failed']]);
    expect(await get(service, batchId, '/items/2')).toMatchObject({
      differences: [{ path: 'data.amount', expected: '20.0', actual: '25' }],
      mockId: beta.found[0]?.mockId,
    });
    const whole = await service.call(`/rule-server/mock/batches/${batchId}/items/1`);
    expect(whole.text).toContain('"the service":{"2":9007199254740993,"1":0.10}');
    const ran = async (query: string) => Object.keys((await get(service, batchId, `/coverage${query}`)).nodes);
    expect([await ran(''), await ran('?target=all')]).toEqual([['1', '2'], ['1']]);
    const junit = await service.call(`/rule-server/mock/batches/${batchId}/report?format=junit`);
    expect(junit.text).toContain('<failure message="data.amount differs: expected 20.0, found 25"');
    expect((await service.call('/rule-server/mock/executions')).text).toContain('"items":[]');
    const own = JSON.parse((await service.call(`/rule-server/mock/executions?batchId=${batchId}`)).text);
    expect(own.items).toHaveLength(2);
  });

  it('is followed: where it stands first, then its progress at most five times a second; its items are read in pages', async () => {
    await using service = await startService();
    const isFollowed = Promise.withResolvers<void>();
    await using _client = await clientOf(service, echoes({ once: isFollowed.promise, afterMs: 30 }));
    const id = await begin(service, { app: 1, cases: inputs(60), concurrency: 2 });
    const from = Date.now();
    const stream = await openEventStream(`${service.url}/rule-server/mock/batches/${id}/events`);
    expect(stream.headers).toMatchObject({ 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' });
    isFollowed.resolve();
    await stream.ended;
    const looks = (Date.now() - from) / 200;
    const done = stream.events.map(({ data }) => data.counts.ran);
    expect(stream.events.map(({ event }) => event)).toEqual(['snapshot', ...done.slice(1).map(() => 'progress')]);
    expect(done.length).toBeGreaterThan(2);
    expect(done.length).toBeLessThan(looks + 2);
    expect(done).toEqual(done.toSorted((one, other) => one - other));
    expect(stream.events.at(-1)?.data).toMatchObject({ state: 'finished', counts: { ran: 60, pending: 0 } });

    const seen: number[] = [];
    for (let cursor = ''; seen.length <= 60; ) {
      const { items, nextCursor } = await get(service, id, `/items?limit=25${cursor}`);
      seen.push(...items.map(({ n }: { n: number }) => n));
      if (nextCursor === null) break;
      cursor = `&cursor=${nextCursor}`;
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => at + 1));
  });

  it('is cancelled: what was not sent is skipped, what runs comes to its end', async () => {
    await using service = await startService();
    await using client = await clientOf(service, answersAfter(400));
    const id = await begin(service, { app: 1, cases: inputs(50), concurrency: 2 });
    await vi.waitFor(() => expect(client.found.length).toBeGreaterThan(1), { timeout: 60_000 });
    const cancelled = await service.call(`/rule-server/mock/batches/${id}`, { method: 'DELETE' });
    expect(cancelled.status).toBe(202);
    const batch = await ended(service, id);
    expect(batch.state).toBe('cancelled');
    expect(batch.counts.pending).toBe(0);
    expect(batch.counts.skipped).toBeGreaterThan(40);
    expect((await service.call(`/rule-server/mock/batches/${id}`, { method: 'DELETE' })).status).toBe(200);
    const again = await begin(service, { app: 1, from: id, verdict: ['skipped'] });
    expect(again).not.toBe(id);
    await service.call(`/rule-server/mock/batches/${again}`, { method: 'DELETE' });
    await ended(service, again);
  });
});

describe('a batch', () => {
  it('never has more open at a client than its concurrency, also beside another batch, and both get on', async () => {
    await using service = await startService({ workers: 2 });
    let open = 0;
    let most = 0;
    await using client = await clientOf(service, async (request) => {
      most = Math.max(most, ++open);
      await request.pickUp();
      await new Promise((resolve) => setTimeout(resolve, 20));
      open--;
      await request.answer(resultText(request));
    });
    const ids = await Promise.all([1, 2].map(() => begin(service, { app: 1, cases: inputs(30), concurrency: 3 })));
    for (const id of ids) expect(await ended(service, id)).toMatchObject({ counts: { ran: 30 } });
    expect(new Set(client.found.map(({ mockId }) => mockId)).size).toBe(60);
    expect(client.found).toHaveLength(60);
    expect(most).toBeLessThanOrEqual(3);
    const order = client.found.map(({ text }) => text);
    expect(order.length).toBe(60);
  });

  it('gives a client that runs one rule after the other only what fits into half a second', async () => {
    await using service = await startService();
    let open = 0;
    let most = 0;
    await using client = await clientOf(
      service,
      async (request) => {
        most = Math.max(most, ++open);
        await request.pickUp();
        await new Promise((resolve) => setTimeout(resolve, 400));
        open--;
        await request.answer(
          JSON.stringify({ mockId: request.mockId, success: true, roam: {}, process: '', error: null, executeAt: 1 }),
        );
      },
      { as: 'python' },
    );
    const id = await begin(service, { app: 1, cases: inputs(6), concurrency: 10 });
    expect(await ended(service, id)).toMatchObject({ counts: { ran: 6 } });
    expect(client.found).toHaveLength(6);
    expect(most).toBe(1);
  });

  it('runs once under an Idempotency-Key', async () => {
    await using service = await startService();
    await using client = await clientOf(service, answers({}));
    const body = { app: 1, ruleId: 1, cases: inputs(2) };
    const [first, second] = [
      await post(service, body, { 'idempotency-key': 'k' }),
      await post(service, body, { 'idempotency-key': 'k' }),
    ];
    expect(JSON.parse(second.text).batchId).toBe(JSON.parse(first.text).batchId);
    expect((await post(service, { ...body, concurrency: 2 }, { 'idempotency-key': 'k' })).status).toBe(422);
    await ended(service, JSON.parse(first.text).batchId);
    expect(client.found).toHaveLength(2);
  });

  it('is refused whole when anything in it is wrong, and every field is named', async () => {
    await using service = await startService({ workers: 0, settings: { MAX_BATCHES: 1 } });
    const refused = async (body: unknown) => {
      const { status, text } = await post(service, body);
      return [
        status,
        ...(JSON.parse(text).errors ?? []).map(
          ({ field, message }: { field: string; message: string }) => `${field} ${message}`,
        ),
      ].join('\n');
    };
    const good = { app: 1, ruleId: 1, cases: [{}] };
    expect(await refused({ ...good, cases: inputs(10_001) })).toContain('cases must be at most 10000, found 10001');
    expect(await refused({ ...good, cases: inputs(5001), targets: ['all', 'lane:b'] })).toContain(
      'cases and targets make 10002 runs',
    );
    const lanes = Array.from({ length: 101 }, (_, n) => `lane:${n}`);
    expect(await refused({ ...good, targets: lanes })).toContain('targets must be at most 100');
    expect(await refused({ ...good, cases: [] })).toContain('cases is empty');
    expect(await refused({ ...good, from: 'a-batch' })).toContain('either cases, saved: true, recorded or from');
    expect(await refused({ ...good, targts: [] })).toContain('did you mean "targets"?');
    expect(await refused({ ...good, targets: ['lane:'] })).toContain('targets[0] names no lane');
    expect(await refused({ cases: [{ expect: { outcome: 'YES' } }] })).toMatch(
      /app must be.*ruleId.*cases\[0\]\.expect\.outcome must be one of/s,
    );
    expect(await refused('{"app":1,"ruleId":1,"cases":[{"the service":{"a":1,"a":2}}]}')).toContain('is given twice');
    expect(await refused({ ...good, from: 'nobody', cases: undefined })).toMatch(/^404/);
    const large = await post(service, `{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`);
    expect([large.status, large.text]).toEqual([413, expect.stringContaining('MAX_BATCH_BYTES')]);
    await begin(service, good);
    expect(await refused(good)).toMatch(/^503/);
    expect((await service.call('/rule-server/mock/batches/nobody')).status).toBe(404);
  });

  it('ignores what is other at each run: for verdicts, and where targets differ', async () => {
    await using service = await startService();
    let runs = 0;
    const gives = (amount: number) =>
      answersWith((request) => {
        const items = [1, 2].map((n) => ({ n, at: ++runs }));
        return resultText(request, {
          'the service': { coupon: { id: ++runs, amount }, items },
          process: '[1:root:T:0]',
        });
      });
    await using _trunk = await clientOf(service, gives(20));
    await using _beta = await clientOf(service, gives(20), { lane: 'beta' });
    await using _gamma = await clientOf(service, gives(25), { lane: 'gamma' });
    const expectation = { data: { coupon: { id: 0, amount: 20 }, items: [1, 2].map((n) => ({ n, at: 0 })) } };
    const call = async (targets: string[], ignore: string[]) => {
      const cases = [{ name: 'one', 'the service': {}, expect: expectation }];
      const batchId = await begin(service, { app: 1, ruleId: 1, targets, ignore, cases });
      const { counts } = await ended(service, batchId);
      return { batchId, counts };
    };
    const ignore = ['coupon.id', 'items[*].at'];
    const alike = await call(['all', 'lane:beta'], ignore);
    expect(alike).toMatchObject({ counts: { passed: 2 } });
    expect(await call(['all', 'lane:gamma'], ignore)).toMatchObject({ counts: { passed: 1, failed: 1 } });
    expect(await call(['all', 'lane:beta'], [])).toMatchObject({ counts: { failed: 2 } });
    // Where nothing is expected, the lanes are compared with the first target.
    const open = { app: 1, ruleId: 1, ignore, cases: [{ name: 'one', 'the service': {} }] };
    for (const [lane, verdict] of [
      ['lane:beta', 'same'],
      ['lane:gamma', 'changed'],
    ] as const) {
      const told = await ended(service, await begin(service, { ...open, targets: ['all', lane] }));
      expect(told).toMatchObject({ against: 'all', targets: [{ counts: { ran: 1 } }, { counts: { [verdict]: 1 } }] });
    }
    expect(await get(service, alike.batchId, '/items/1')).toMatchObject({ ignore, differences: [] });

    const again = await begin(service, { app: 1, from: alike.batchId });
    expect(await ended(service, again)).toMatchObject({ ignore, counts: { passed: 2 } });
    const bad = await post(service, JSON.stringify({ app: 1, ruleId: 1, cases: [{}], ignore: ['a..b'] }));
    expect(bad).toMatchObject({ status: 400, json: { code: 'bad-request', errors: [{ field: 'ignore[0]' }] } });
  });

  it('is run from CSV, typed by what the rule reads', async () => {
    await using service = await startService();
    await using client = await clientOf(service, answers({}));
    const csv = (text: string, more = '', key: string = randomUUID()) =>
      service.call(`/rule-server/mock/batches?app=1&ruleId=1&targets=all${more}`, {
        method: 'POST',
        body: text,
        headers: { 'content-type': 'text/csv', 'idempotency-key': key },
      });
    await mkdir(join(service.sharedDir, '1'), { recursive: true });
    const answer = await csv('name;user.city\na;"x;y"\nb;\n');
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    await ended(service, JSON.parse(answer.text).batchId);
    expect(client.found.some(({ text }) => text.includes('{"user":{"city":"x;y"}}'))).toBe(true);
    const wide = Array.from({ length: 5000 }, (_, n) => `c${n}`).join(',');
    expect((await csv(`${wide}\n${wide}\n`)).text).toContain('more than 1000 columns');

    const mistaken = 'name,asOf\nfirst,2026-03-15 12:00\nsecond,soon\n';
    const whole = await csv(mistaken);
    expect(whole.status).toBe(400);
    expect(whole.json.errors.map(({ field }: { field: string }) => field)).toEqual(['asOf', 'asOf']);
    const zoned = '&invalid=skip&timeZone=Europe/Berlin';
    const part = await csv(mistaken, zoned, 'part');
    expect(part).toMatchObject({
      status: 202,
      json: {
        cases: 1,
        setAside: {
          cases: 1,
          errors: [
            {
              field: 'asOf',
              message: 'is not a time such as 2026-03-15T12:00:00+08:00, found "soon" (row 2, column 2, line 3)',
            },
          ],
        },
      },
    });
    await ended(service, part.json.batchId);
    const [item] = (await service.call(`/rule-server/mock/batches/${part.json.batchId}/items`)).json.items;
    const { ts } = (await service.call(`/rule-server/mock/batches/${part.json.batchId}/items/${item.n}`)).json;
    expect(ts).toBe(Date.parse('2026-03-15T12:00:00+01:00'));
    expect((await csv(mistaken, zoned, 'part')).json.batchId).toBe(part.json.batchId);
    expect((await csv(mistaken, '&invalid=skip&timeZone=UTC', 'part')).status).toBe(422);
    expect((await csv(mistaken, '&timeZone=Mars')).json.errors).toMatchObject([{ field: 'timeZone' }]);
    expect((await csv('asOf\nsoon\n', '&invalid=skip')).status).toBe(400);
  });

  it('sets cases with mistakes aside where that is asked for', async () => {
    await using service = await startService();
    await using client = await clientOf(service, answers({}));
    const cases = [{ 'the service': { a: 1 } }, { 'the service': 7 }, { ts: 'soon' }, { 'the service': { a: 2 } }];
    const body = JSON.stringify({ app: 1, ruleId: 1, cases });
    const call = (query: string) =>
      service.call(`/rule-server/mock/batches${query}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
    expect((await call('')).json.errors).toHaveLength(2);
    const taken = await call('?invalid=skip');
    expect(taken).toMatchObject({
      status: 202,
      json: {
        cases: 2,
        setAside: { cases: 2, errors: [{ field: 'cases[1]["the service"]' }, { field: 'cases[2].ts' }] },
      },
    });
    await ended(service, taken.json.batchId);
    // Later readers are told how many; the mistakes quote values, which are not kept.
    const later = await service.call(`/rule-server/mock/batches/${taken.json.batchId}`);
    expect(later.json.setAside).toEqual({ cases: 2, errors: [] });
    expect(client.found).toHaveLength(2);
    expect((await call('?invalid=maybe')).json.errors).toMatchObject([{ field: 'invalid' }]);
  });

  it('leaves the rest of a target alone after a null result, and after three cases without an answer', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 600 }, leavesFiles: true });
    await using _dying = await clientOf(service, async (request) => {
      await request.pickUp();
      await request.answer('null');
    });
    await using _silent = await clientOf(service, staysSilent, { app: 2 });
    const [dead, quiet] = [
      await begin(service, { app: 1, cases: inputs(9), concurrency: 1 }),
      await begin(service, { app: 2, cases: inputs(9), concurrency: 1 }),
    ];
    expect(await ended(service, dead)).toMatchObject({ counts: { unanswered: 1, skipped: 8 } });
    expect((await get(service, dead, '/items?verdict=skipped')).items[0].reason).toBe('client-ended');
    expect(await ended(service, quiet)).toMatchObject({ counts: { unanswered: 3, skipped: 6 } });
    expect((await get(service, quiet, '/items?verdict=skipped')).items[0].error).toContain('3 cases in a row');
  });

  it('goes on after cases for which no worker had room: that says nothing of the client', async () => {
    const settings = { QUEUE_TIMEOUT_MS: 500, MAX_WAITS_PER_CLIENT: 1 };
    await using service = await startService({ settings });
    await using client = await clientOf(service, answersAfter(2500));
    const id = await begin(service, { app: 1, cases: inputs(6), concurrency: 5 });
    const { counts } = await ended(service, id);
    expect(counts.unanswered).toBeGreaterThanOrEqual(3);
    expect(counts).toMatchObject({ skipped: 0, ran: client.found.length });
    for (const item of (await get(service, id, '/items?verdict=unanswered')).items)
      expect(item).toMatchObject({ code: 'overloaded', mayHaveRun: false });
  });

  it('takes back what it had sent to a client that ended, and sends no more', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 20_000 } });
    await using client = await clientOf(service, async (request, { found }) => {
      if (found[0] !== request) return;
      await vi.waitUntil(() => found.length === 4, { timeout: 60_000 });
      await request.pickUp();
      await request.answer('null');
    });
    const id = await begin(service, { app: 1, cases: inputs(9), concurrency: 4 });
    expect((await ended(service, id)).counts).toMatchObject({ unanswered: 1, skipped: 8 });
    for (const item of (await get(service, id, '/items?verdict=skipped')).items)
      expect(item).toMatchObject({
        mayHaveRun: false,
        reason: 'client-ended',
        params: { address: client.address },
      });
    expect(client.found).toHaveLength(4);
  });

  it('finds the answer of a case after a long time without any worker', async () => {
    // The answer comes within the time of a result, also when the worker takes a while to stop.
    const settings = { QUEUE_TIMEOUT_MS: 300, RESULT_TIMEOUT_MS: 5000 };
    await using service = await startService({ workers: 1, settings });
    let answer = async () => {};
    await using client = await clientOf(service, async (request) => {
      await request.pickUp();
      answer = () => request.answer(resultText(request));
    });
    const id = await begin(service, { app: 1, cases: inputs(1) });
    await client.firstRequest();
    const longAfter = Date.now() + 2 * settings.QUEUE_TIMEOUT_MS + apiWaitMs(service.settings) + 500;
    await service.workers.shift()?.stop();
    await answer();
    await vi.waitUntil(() => Date.now() > longAfter, { timeout: 60_000 });
    await service.addWorker();
    expect((await ended(service, id)).counts).toMatchObject({ ran: 1 });
    expect(client.found).toHaveLength(1);
  });

  it('never sends an item again that may have been sent before the queue store lost it', async () => {
    await using service = await startService({ workers: 0, settings: { QUEUE_TIMEOUT_MS: 3000 } });
    await using client = await clientOf(service, answers({}));
    const id = await begin(service, { app: 1, cases: inputs(250) });
    const marks = join(service.sharedDir, '.rule-server', 'batches', id);
    await mkdir(marks, { recursive: true });
    await writeFile(join(marks, `0.100.${Date.now() - 15 * 60_000}`), '');
    await writeFile(join(marks, `0.200.${Date.now() - 60_000}`), '');
    await service.addWorker();
    expect((await ended(service, id)).counts).toMatchObject({ unanswered: 100, ran: 150 });
    expect(client.found).toHaveLength(150);
    const { items } = await get(service, id, '/items?verdict=unanswered&limit=1');
    expect(items[0]).toMatchObject({ n: 1, code: 'outcome-unknown', mayHaveRun: true });
  });
});

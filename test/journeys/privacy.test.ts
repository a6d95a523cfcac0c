import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { markerInFiles, markerInRedis } from '../support/find-marker.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answers, answersWith, type Behaviour, createResponder, errs, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';
const BATCHES = '/rule-server/mock/batches';
const JSON_TYPE = { 'content-type': 'application/json' };
const MASKED = { MASK: '7:customer.phone,7:cards.number' };
const OFF = { HISTORY_OFF: '7' };
const SECRET = 'marker-of-phone';
const NUMBER = 'marker-of-card';

/** Data with two hidden fields, one of them in a list, and one that anybody may see. */
const data = { customer: { phone: SECRET, city: 'Ulm' }, cards: [{ number: NUMBER, kind: 'gold' }] };

/** What clients answer that read and write such fields, and quote them. */
const tells: Behaviour = answers({
  'the service': { ...data, discount: 9_007_199_254_740_991 },
  process: `[1:looked at ${SECRET}:T:0]`,
  error: `no contract for ${SECRET}`,
  success: false,
  steps: [
    { nodeId: 1, reads: [{ key: 'customer.phone', deep: true, value: SECRET }], writes: [] },
    {
      nodeId: 2,
      reads: [{ key: 'customer', value: data.customer }],
      writes: [{ key: 'cards', before: data.cards, after: [] }],
    },
  ],
});

const read = async ({ call }: Service, mockId: string) => {
  await vi.waitFor(async () => {
    const { status, json } = await call(`${EXECUTIONS}/${mockId}`);
    expect(status === 410 || json.ending !== null).toBe(true);
  }, 60_000);
  return call(`${EXECUTIONS}/${mockId}`);
};

async function runBatch({ call }: Service, body: object) {
  const started = await call(BATCHES, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) });
  expect(started.status).toBe(202);
  const { batchId } = started.json;
  await vi.waitFor(async () => expect((await call(`${BATCHES}/${batchId}`)).json.state).toBe('finished'), 60_000);
  return batchId;
}

describe('with MASK', () => {
  it('the caller gets everything; whoever reads it later does not see what is hidden, and is told so', async () => {
    await using service = await startService({ settings: MASKED });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const ran = await service.execute({ app: 7, ruleId: 1, 'the service': data });
    expect(ran.json['the service'].customer.phone).toBe(SECRET);
    expect(client.found[0]?.text).toContain(SECRET);
    for (let look = 0; look < 2; look++) {
      const { text, json } = await read(service, ran.json.mockId);
      expect(text).not.toMatch(/marker-of/);
      expect(json.masked.toSorted()).toEqual(['cards.number', 'customer.phone']);
      expect(json.input).toEqual({ customer: { phone: '***', city: 'Ulm' }, cards: [{ number: '***', kind: 'gold' }] });
      expect(json.result.error).toBe('no contract for ***');
      expect(json.result.process).toBe('[1:looked at ***:T:0]');
      expect(json.result.steps[1].reads[0].value).toEqual({ phone: '***', city: 'Ulm' });
      expect(text).toContain('9007199254740991');
      await eventually(async () => expect((await service.call(EXECUTIONS)).json.items[0].ending).not.toBeNull());
    }
    const list = await service.call(`${EXECUTIONS}?include=input`);
    expect([list.text.includes('marker-of'), list.json.items[0].input.customer.city]).toEqual([false, 'Ulm']);
  });

  it('a call repeated under its Idempotency-Key gets everything again', async () => {
    await using service = await startService({ settings: MASKED });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const run = () =>
      service.execute({ app: 7, ruleId: 1, 'the service': data }, { headers: { 'idempotency-key': 'k' } });
    const both = await Promise.all([run(), run()]); // one of them joins the other
    expect(both.map(({ text }) => text.includes(SECRET))).toEqual([true, true]);
    expect((await run()).text).toBe(both[0]?.text);
    expect(client.found).toHaveLength(1);
  });

  it('a large answer reaches its caller whole, and is hidden for others', async () => {
    await using service = await startService({ settings: MASKED });
    const large = answers({ 'the service': { ...data, more: 'x'.repeat(100_000) } });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 7, does: large });
    const ran = await service.execute({ app: 7, ruleId: 1, 'the service': data });
    expect([ran.text.length > 100_000, ran.text.includes(SECRET)]).toEqual([true, true]);
    const { text } = await read(service, ran.json.mockId);
    expect([text.length > 100_000, text.includes('marker-of')]).toEqual([true, false]);
  });

  it('a batch runs with everything; its items, its reports and its events hide it', async () => {
    await using service = await startService({ settings: MASKED });
    const expected = { data: { customer: { phone: 'marker-of-another' }, cards: [], city: 'Bonn' } };
    const quotes: Behaviour = async (request) => {
      await request.pickUp();
      const failed = request.text.includes('fails') && { success: false, error: `no ${SECRET}` };
      await request.answer(resultText(request, { 'the service': { ...data, more: 1 }, ...failed }));
    };
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: quotes });
    const cases = [
      { name: 'one', 'the service': data, expect: expected },
      { name: 'two', 'the service': { ...data, fails: true } },
    ];
    const batchId = await runBatch(service, { app: 7, ruleId: 1, cases });
    expect(client.found.every(({ text }) => text.includes(SECRET))).toBe(true);
    const paths = [
      '',
      '/items',
      '/items/1',
      '/items/2',
      ...['junit', 'csv', 'json', 'markdown'].map((f) => `/report?format=${f}`),
    ];
    for (const path of [...paths, '/events']) {
      const { status, text } = await service.call(`${BATCHES}/${batchId}${path}`);
      expect([path, status, /marker-of/.exec(text)?.[0]]).toEqual([path, 200, undefined]);
    }
    const item = (await service.call(`${BATCHES}/${batchId}/items/1`)).json;
    expect(item.masked.toSorted()).toEqual(['cards.number', 'customer.phone']);
    expect(item['the service'].customer).toEqual({ phone: '***', city: 'Ulm' });
    expect(item.differences.map(({ path }: { path: string }) => path)).toContain('data.customer.phone');
    expect((await read(service, item.mockId)).text).not.toContain('marker-of');
    const again = await runBatch(service, { app: 7, ruleId: 1, from: batchId, verdict: ['failed'] });
    expect((await service.call(`${BATCHES}/${again}`)).json.counts.failed).toBe(1);
    expect(client.found.at(-1)?.text).toContain(SECRET);
  });
});

const PHONE = 5_551_234_567;

/** More hidden values than any text is searched for one by one would take long; and one that is copied in every way. */
const many = Array.from({ length: 250 }, (_, n) => ({ number: `marker-of-card-${n}` }));
const copied = {
  customer: { phone: PHONE },
  cards: many,
  copy: PHONE,
  again: `call ${PHONE}`,
  last: 'marker-of-card-249',
  [`of ${PHONE}`]: 1,
};

describe('with MASK, of a rule that copies what is hidden', () => {
  it('no way out shows the copies: numbers, texts, names of members, names of cases, more than 200 values', async () => {
    await using service = await startService({ settings: { MASK: '7:customer.phone,7:cards.number' } });
    const copies = answers({
      'the service': { ...copied, more: [PHONE] },
      process: `[1:of ${PHONE}:T:0]`,
      steps: [
        { nodeId: 1, reads: [{ key: 'other', value: PHONE }], writes: [{ key: 'deep', after: { deep: PHONE } }] },
      ],
      extra: { phone: PHONE, [`k${PHONE}`]: 'marker-of-card-7' },
    });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 7, does: copies });
    const { mockId } = (await service.execute({ app: 7, ruleId: 1, 'the service': copied })).json;
    const cases = [{ name: `of ${PHONE}`, 'the service': copied, expect: { outcome: 'FALSE', data: { copy: 1 } } }];
    const batchId = await runBatch(service, { app: 7, ruleId: 1, cases });
    const { json } = await read(service, mockId);
    expect(json.input).toMatchObject({ copy: '***', again: 'call ***', last: '***', 'of ***': 1 });
    expect(json.masked).toEqual(expect.arrayContaining(['customer.phone', 'cards.number', 'copy', 'again', 'last']));
    const ways = [
      ...[`${EXECUTIONS}/${mockId}`, `${EXECUTIONS}/${mockId}?include=tree`, `${EXECUTIONS}/${mockId}/events`],
      ...[`${EXECUTIONS}?include=input`, `${EXECUTIONS}?app=7&text=call&include=input`],
      ...['/items', '/items/1', '/events'].map((path) => `${BATCHES}/${batchId}${path}`),
      ...['junit', 'csv', 'json', 'markdown'].map((format) => `${BATCHES}/${batchId}/report?format=${format}`),
    ];
    for (const way of ways) {
      const { status, text } = await service.call(way);
      expect([way, status, /5551234567|marker-of[\w-]*/.exec(text)?.[0]]).toEqual([way, 200, undefined]);
    }
  });
});

describe('with HISTORY_OFF', () => {
  it('the caller gets the answer; its id says that nothing is kept, and no list has it', async () => {
    await using service = await startService({ settings: OFF });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const ran = await service.execute({ app: 7, ruleId: 1, 'the service': data });
    expect(ran.text).toContain(SECRET);
    for (let look = 0; look < 2; look++) {
      const { status, json } = await read(service, ran.json.mockId);
      expect([status, json.error]).toEqual([410, expect.stringMatching(/are not kept: HISTORY_OFF names app 7/)]);
      expect((await service.call(`${EXECUTIONS}?include=input`)).text).not.toContain(ran.json.mockId);
      await eventually(async () => expect(service.log.some(({ msg }) => msg === 'answered')).toBe(true));
    }
    const events = await service.call(`${EXECUTIONS}/${ran.json.mockId}/events`);
    expect([events.status, events.text.includes('marker-of')]).toEqual([200, false]);
    const unknown = await service.call(`${EXECUTIONS}/00000000-0000-4000-8000-000000000000`);
    expect(unknown.status).toBe(404);
  });

  it('an answer that nobody waits for can be collected', async () => {
    await using service = await startService({ settings: OFF });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const headers = { prefer: 'respond-async' };
    const { mockId } = (await service.execute({ app: 7, ruleId: 1, 'the service': data }, { headers })).json;
    for (let look = 0; look < 3; look++) {
      const { status, json } = await read(service, mockId);
      expect([status, json.result['the service'].customer.phone, json.input]).toEqual([200, SECRET, data]);
    }
  });

  it('a call repeated under its Idempotency-Key does not run again, and hears that its answer is not kept', async () => {
    await using service = await startService({ settings: OFF });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const run = () =>
      service.execute({ app: 7, ruleId: 1, 'the service': data }, { headers: { 'idempotency-key': 'k' } });
    expect((await run()).text).toContain(SECRET);
    await eventually(async () => expect((await run()).json.reason).toBe('answer-gone'));
    expect(client.found).toHaveLength(1);
  });

  it('of a batch the verdicts stay, and it cannot be run again from what is kept', async () => {
    await using service = await startService({ settings: OFF });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const cases = [{ name: 'one', 'the service': data, expect: { data: { customer: { phone: SECRET } } } }];
    const batchId = await runBatch(service, { app: 7, ruleId: 1, cases });
    expect((await service.call(`${BATCHES}/${batchId}`)).json.counts.error).toBe(1);
    for (const path of ['/items', '/items/1', '/report?format=json', '/report?format=junit'])
      expect((await service.call(`${BATCHES}/${batchId}${path}`)).text).not.toContain('marker-of');
    expect((await service.call(`${BATCHES}/${batchId}/items/1`)).json.masked).toEqual(['*']);
    await using _wrong = await createResponder({
      ...{ sharedDir: service.sharedDir, app: 7, lane: 'red', does: answersWith(`{"success":"${SECRET}"}`) },
    });
    const wrong = await runBatch(service, { app: 7, ruleId: 1, targets: ['lane:red'], cases });
    const { text, json } = await service.call(`${BATCHES}/${wrong}/items`);
    expect([text.includes('marker-of'), json.items[0].code]).toEqual([false, 'invalid-result']);
    const body = JSON.stringify({ app: 7, ruleId: 1, from: batchId, verdict: ['error'] });
    const again = await service.call(BATCHES, { method: 'POST', headers: JSON_TYPE, body });
    expect([again.status, again.json.error]).toEqual([410, expect.stringContaining('HISTORY_OFF')]);
  });
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('what is in Redis and in the shared directory', () => {
  let redis: RedisServer;
  let database: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis?.stop());
  beforeEach(async () => {
    database = await claimRedisDatabase(redis.url);
  });
  afterEach(() => database.stop());

  /** Where a text is once what is kept of jobs for three minutes has gone. */
  async function placesOf({ backends, sharedDir }: Service, marker: string): Promise<string[]> {
    const queue = backends[0]?.openQueue('executions');
    if (!queue) throw new Error('there is no queue');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await queue.removeOld(0);
    await queue.close();
    const files = await markerInFiles(sharedDir, marker);
    // A kept answer goes after 30 s by itself.
    const lasting = files.filter((file) => !file.includes('/.rule-server/answers/'));
    return [...(await markerInRedis(database.url, marker)), ...lasting];
  }

  it.each([
    ['MASK', MASKED, /^answered late; the answer is kept/],
    ['HISTORY_OFF', OFF, /^answered late; nothing is kept of this app/],
    ['neither', {}, /^answered late; the answer is kept/],
  ] as const)('with %s: of runs, failures and late answers', async (setting, settings, saysOfLate) => {
    await using service = await startService({
      queueUrl: database.url,
      settings: { ...settings, RESULT_TIMEOUT_MS: 800 },
      leavesFiles: true,
    });
    const marker = `marker-${setting}`;
    const hidden = { customer: { phone: marker }, cards: [{ number: marker }] };
    const late: Behaviour = async (request) => {
      await request.pickUp();
      await new Promise((resolve) => setTimeout(resolve, 1200));
      await request.answer(resultText(request, { 'the service': hidden }));
    };
    const does: Behaviour[] = [answers({ 'the service': hidden, process: marker }), errs(`about ${marker}`), late];
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: late });
    for (const behaviour of does) {
      client.does = behaviour;
      const { json } = await service.execute({ app: 7, ruleId: 1, 'the service': hidden });
      expect(client.found.at(-1)?.text).toContain(marker);
      if (behaviour !== late) continue;
      const isSaid = () => expect(service.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(saysOfLate));
      await vi.waitFor(isSaid, 60_000);
      expect(json.code).toBe('no-answer');
    }
    await service.execute({ app: 7, ruleId: 1, target: 'lane:nobody', 'the service': hidden });
    const places = await placesOf(service, marker);
    if (setting === 'neither') expect(places.length).toBeGreaterThan(3);
    else expect(places).toEqual([]);
  });

  it('of a batch with HISTORY_OFF once it is over', async () => {
    await using service = await startService({ queueUrl: database.url, settings: OFF, leavesFiles: true });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 7, does: tells });
    const cases = [{ name: 'one', 'the service': data, expect: { data: { customer: { phone: SECRET } } } }];
    await runBatch(service, { app: 7, ruleId: 1, cases });
    expect(await placesOf(service, 'marker-of')).toEqual([]);
  });
});

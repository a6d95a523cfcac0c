import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { historyLimitsOf } from '../../src/shared/runtime/settings/settings.ts';
import { eventually } from '../support/eventually.ts';
import { registerPublished } from '../support/published-client.ts';
import { answers, answersWith, type Behaviour, errs, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';
const SCHEMA = '/rule-server/mock/schema';
const SECRET = 'marker-of-phone';
const [HIDES, KEEPS_NOTHING] = [41, 42];
const OTHER_RUN = '3f8d8a0e-0000-4000-8000-000000000000';

describe('what a run tells', () => {
  let service: Service;
  let apps = 900;
  beforeAll(async () => {
    const settings = { ICE_ENDPOINTS: 1, MASK: `${HIDES}:customer.phone`, HISTORY_OFF: KEEPS_NOTHING };
    service = await startService({ settings });
  });
  afterAll(() => service?.stop());

  const executeIce = (body: object) =>
    service.call('/ice-server/mock/execute', { method: 'POST', body: JSON.stringify(body) });
  const settled = (mockId: string) =>
    eventually(async () => {
      const { json } = await service.call(`${EXECUTIONS}/${mockId}`);
      expect(json.ending).not.toBeNull();
      return json;
    });
  const runWith = async (body: object) => {
    const answer = await service.execute({ ruleId: 1, ...body });
    return { answer, record: await settled(answer.json.mockId) };
  };
  const kept = () => service.backends[0]?.openHistory(historyLimitsOf(service.settings));
  const idsOf = async (query: string) => {
    const { status, json } = await service.call(`${EXECUTIONS}?${query}`);
    expect(status).toBe(200);
    return json.items.map(({ mockId }: { mockId: string }) => mockId).sort();
  };
  const finds = (query: string, mockIds: string[]) =>
    eventually(async () => expect(await idsOf(query)).toEqual(mockIds.toSorted()));
  const fieldsIn = (json: { errors: { field: string }[] }) => json.errors.map(({ field }) => field);

  describe.concurrent('debug', () => {
    it.each(['rule', 'python'] as const)('reaches a client of the %s dialect, and 0 is left out', async (as) => {
      await using client = await service.clientThat(answers(), { as });
      for (const debug of [1, 255, 0, null, undefined])
        expect((await service.execute({ app: client.app, ruleId: 1, debug })).status).toBe(200);
      const asked = client.found.map(({ text }) => JSON.parse(text));
      expect(asked.map((request) => request.debug)).toEqual([1, 255, undefined, undefined, undefined]);
      expect(asked.map((request) => 'debug' in request)).toEqual([true, true, false, false, false]);
    });

    it.each([[256], [-1], [1.5], ['5'], [true], [[1]]])('%j is refused, and the field is named', async (debug) => {
      const { status, json } = await service.execute({ app: 1, ruleId: 1, debug });
      expect([status, fieldsIn(json)]).toEqual([400, ['debug']]);
      expect(json.errors[0].message).toMatch(/^must be an integer from 0 to 255, found /);
    });

    it('reaches a client from the endpoint of the published server, which refuses it out of range', async () => {
      await using client = await service.clientThat(answers(), { as: 'python' });
      for (const debug of [7, 0])
        expect((await executeIce({ app: client.app, iceId: 1, debug })).json.data.success).toBe(true);
      expect(client.found.map(({ text }) => JSON.parse(text).debug)).toEqual([7, undefined]);
      const { json } = await executeIce({ app: client.app, iceId: 1, debug: 256 });
      expect(json).toEqual({ ret: -1, msg: 'debug must be an integer from 0 to 255, found 256' });
    });
  });

  describe.concurrent('a comparison and the run it repeats', () => {
    it('are told while it runs, when it is over and in the list', async () => {
      await using client = await service.clientThat(staysSilent);
      const said = { comparisonId: 'Nightly_2026-11-23', derivedFrom: OTHER_RUN };
      const headers = { prefer: 'respond-async' };
      const { mockId } = (await service.execute({ app: client.app, ruleId: 1, ...said }, { headers })).json;
      expect((await service.call(`${EXECUTIONS}/${mockId}`)).json).toMatchObject({ ending: null, ...said });
      const request = await client.firstRequest();
      expect(request.text).not.toMatch(/comparisonId|derivedFrom/);
      await answers()(request, client);
      expect(await settled(mockId)).toMatchObject(said);
      await finds(`app=${client.app}`, [mockId]);
      expect((await service.call(`${EXECUTIONS}?app=${client.app}`)).json.items).toMatchObject([said]);
    });

    it('are null where its caller said nothing', async () => {
      const { record } = await runWith({ app: ++apps, comparisonId: null });
      expect(record).toMatchObject({ comparisonId: null, derivedFrom: null });
    });

    it.each([
      ['comparisonId', ''],
      ['comparisonId', 'x'.repeat(65)],
      ['comparisonId', 'a b'],
      ['comparisonId', 'é'],
      ['comparisonId', 'a\n'],
      ['comparisonId', 5],
      ['derivedFrom', ''],
      ['derivedFrom', OTHER_RUN.slice(1)],
      ['derivedFrom', 'x'.repeat(36)],
      ['derivedFrom', {}],
    ])('%s %j is refused', async (field, value) => {
      const { status, json } = await service.execute({ app: 1, ruleId: 1, [field]: value });
      expect([status, fieldsIn(json)]).toEqual([400, [field]]);
    });

    it('64 characters are not too many', async () => {
      const comparisonId = 'x'.repeat(64);
      expect((await runWith({ app: ++apps, comparisonId })).record.comparisonId).toBe(comparisonId);
    });
  });

  describe.concurrent('the lane', () => {
    it.each([
      ['it succeeded', answers(), 'succeeded'],
      ['it failed', errs('no'), 'failed'],
      ['its answer was none', answersWith('[]'), 'failed'],
    ] as const)('is that of its client, also if %s; null in the trunk', async (_what, does, state) => {
      await using trunk = await service.clientThat(does);
      await using beta = await service.clientThat(does, { app: trunk.app, lane: 'beta' });
      const ran = [];
      for (const { address } of [trunk, beta])
        ran.push(await runWith({ app: trunk.app, target: `address:${address}` }));
      expect(ran.map(({ record }) => [record.address, record.lane, record.state])).toEqual([
        [trunk.address, null, state],
        [beta.address, 'beta', state],
      ]);
    });

    it('is null where nobody could run it, even if a lane was asked for', async () => {
      const { record } = await runWith({ app: ++apps, target: 'lane:beta' });
      expect(record).toMatchObject({ lane: null, state: 'rejected' });
    });
  });

  describe.concurrent('the error', () => {
    it('is null where there is none', async () => {
      for (const error of [null, '', { of: 'another kind' }]) {
        await using client = await service.clientThat(answers({ error }));
        expect((await runWith({ app: client.app })).record).toMatchObject({ error: null, state: 'succeeded' });
      }
    });

    it('is the beginning of what the client said, 300 characters of it; the result has all of it', async () => {
      const said = Array.from({ length: 100 }, (_, n) => `word${n}`).join(' ');
      await using client = await service.clientThat(errs(said));
      const { record } = await runWith({ app: client.app });
      expect(record.error).toBe(said.slice(0, 300));
      expect(record.result.error).toBe(said);
      await finds(`app=${client.app}`, [record.mockId]);
      const { json } = await service.call(`${EXECUTIONS}?app=${client.app}`);
      expect(json.items[0].error).toBe(said.slice(0, 300));
    });

    it('is whole up to 300 characters', async () => {
      await using client = await service.clientThat(errs('é'.repeat(300)));
      expect((await runWith({ app: client.app })).record.error).toBe('é'.repeat(300));
    });

    it('is why there is no answer, as its caller was told', async () => {
      // A long name of a client cuts nothing off: the sentence is made of what is kept.
      await using client = await service.clientThat(answersWith('{"success":"neither"}'), { address: 'a'.repeat(200) });
      const [none, unusable] = [await runWith({ app: ++apps }), await runWith({ app: client.app })];
      expect([none.answer.json.code, unusable.answer.json.code]).toEqual(['no-client', 'invalid-result']);
      expect(unusable.answer.json.error.length).toBeGreaterThan(300);
      for (const { answer, record } of [none, unusable]) {
        expect(record.error).toMatch(/^\S.{10}/);
        expect(record.error).toBe(answer.json.error);
      }
    });
  });

  describe('of an app with hidden fields', () => {
    const data = { customer: { phone: SECRET, city: 'Ulm' } };

    /** At a client of its own, for those of other tests are still registered; told by the history, not by the queue. */
    const runAt = async (does: Behaviour, app = HIDES) => {
      await using client = await service.clientThat(does, { app });
      const body = { app, ruleId: 1, target: `address:${client.address}`, 'the service': data };
      const answer = await service.execute(body);
      const { mockId } = answer.json;
      await eventually(async () => expect(await kept()?.get(mockId)).not.toBeNull());
      return { answer, record: await settled(mockId) };
    };

    it('the error hides them, before it is cut; they are not found by it', async () => {
      // A cut in the middle of it would leave a beginning that nobody recognises.
      const said = `no contract for ${SECRET}, ${'x'.repeat(255)} ${SECRET}`;
      const { answer, record } = await runAt(errs(said));
      expect(answer.json.error).toBe(said);
      expect(record.error).toBe(said.replaceAll(SECRET, '***'));
      expect(JSON.stringify(record)).not.toContain(SECRET.slice(0, 4));
      await finds(`app=${HIDES}&text=contract`, [record.mockId]);
      expect(await idsOf(`app=${HIDES}&text=${SECRET}`)).toEqual([]);
      expect((await service.call(EXECUTIONS)).text).not.toContain(SECRET.slice(0, 4));
    });

    it('why there is no answer hides them as well', async () => {
      const { answer, record } = await runAt(answersWith(`{"success":"${SECRET}"}`));
      expect(answer.json).toMatchObject({ code: 'invalid-result', error: expect.stringContaining(SECRET) });
      expect(record.error).toBe(answer.json.error.replaceAll(SECRET, '***'));
    });

    it('there is no error as long as only the queue has it, but for other apps there is', async () => {
      const other = ++apps;
      for (const app of [HIDES, other]) {
        const { record } = await runAt(errs(`no ${SECRET}`), app);
        expect(record.error).toBe(app === HIDES ? 'no ***' : `no ${SECRET}`);
        await kept()?.erase(record.mockId);
        const { json } = await service.call(`${EXECUTIONS}/${record.mockId}`);
        expect([json.state, json.error]).toEqual(['failed', app === HIDES ? null : `no ${SECRET}`]);
      }
    });
  });

  it('of an app in HISTORY_OFF there is no error, whether its client failed or nobody answered', async () => {
    const headers = { prefer: 'respond-async' };
    const begin = async () => (await service.execute({ app: KEEPS_NOTHING, ruleId: 1 }, { headers })).json.mockId;
    const rejected = await settled(await begin());
    await using _ = await service.clientThat(errs(SECRET), { app: KEEPS_NOTHING, lane: 'beta' });
    const { json } = await service.execute({ app: KEEPS_NOTHING, ruleId: 1, target: 'lane:beta' });
    expect(json.error).toBe(SECRET);
    expect([rejected.state, rejected.error]).toEqual(['rejected', null]);
    await eventually(async () =>
      expect(await kept()?.get(json.mockId)).toMatchObject({ state: 'failed', error: null }),
    );
    await using __ = await service.clientThat(answersWith(`{"success":"${SECRET}"}`), {
      app: KEEPS_NOTHING,
      lane: 'red',
    });
    const call = { app: KEEPS_NOTHING, ruleId: 1, target: 'lane:red' };
    const unusable = (await service.execute(call)).json;
    expect(unusable).toMatchObject({ reason: 'result-unusable', error: expect.stringContaining(SECRET) });
    const record = await eventually(async () => {
      const found = await kept()?.get(unusable.mockId);
      expect(found?.ending).toMatchObject({ code: 'invalid-result', reason: null, params: {} });
      return found;
    });
    expect(JSON.stringify(record)).not.toContain(SECRET);
    const keyed = () => service.execute(call, { headers: { 'idempotency-key': 'unusable' } });
    expect((await keyed()).json.reason).toBe('result-unusable');
    expect((await keyed()).json).toMatchObject({ code: 'invalid-result', mayHaveRun: true });
  });

  describe.concurrent('a search', () => {
    it('finds by lane', async () => {
      await using trunk = await service.clientThat(answers());
      await using beta = await service.clientThat(answers(), { app: trunk.app, lane: 'beta' });
      const ran = [];
      for (const { address } of [trunk, beta])
        ran.push((await runWith({ app: trunk.app, target: `address:${address}` })).record.mockId);
      await finds(`app=${trunk.app}`, ran);
      expect(await idsOf(`app=${trunk.app}&lane=beta`)).toEqual(ran.slice(1));
      expect(await idsOf(`app=${trunk.app}&lane=bet`)).toEqual([]);
      expect(await idsOf(`app=${trunk.app}&lane=`)).toHaveLength(2);
    });

    it('finds by comparison, also what is on its way', async () => {
      await using client = await service.clientThat(answers());
      const one = (await runWith({ app: client.app, comparisonId: 'one' })).record.mockId;
      const other = (await runWith({ app: client.app, comparisonId: 'other' })).record.mockId;
      const plain = (await runWith({ app: client.app })).record.mockId;
      await finds(`app=${client.app}`, [one, other, plain]);
      expect(await idsOf('comparisonId=one')).toEqual([one]);
      client.does = staysSilent;
      const headers = { prefer: 'respond-async' };
      const open = await service.execute({ app: client.app, ruleId: 1, comparisonId: 'one' }, { headers });
      await finds('comparisonId=one', [one, open.json.mockId]);
      await service.call(`${EXECUTIONS}/${open.json.mockId}`, { method: 'DELETE' });
    });

    it('finds words of the error', async () => {
      await using client = await service.clientThat(errs('Card 4711 was declined'));
      const declined = (await runWith({ app: client.app })).record.mockId;
      client.does = errs('no contract');
      const other = (await runWith({ app: client.app })).record.mockId;
      await finds(`app=${client.app}`, [declined, other]);
      for (const words of ['declined', 'DECLINED%204711', 'card'])
        expect(await idsOf(`app=${client.app}&text=${words}`)).toEqual([declined]);
      expect(await idsOf(`app=${client.app}&text=declined%20contract`)).toEqual([]);
      expect(await idsOf(`app=${client.app}&text=471`)).toEqual([]);
    });
  });

  describe.concurrent('who expects that nothing happens', () => {
    const names = ['dryRun', 'dryrun', 'dry_run', 'DRY-RUN', 'dryRn', 'stub', 'stubs', 'Stub'];

    it.each(names)('with %s, other than as it is described, is refused, and nothing runs', async (name) => {
      await using client = await service.clientThat(answers());
      // As they are described they are a dry run, and stubs none.
      const asDescribed = { dryRun: true, stub: {} }[name];
      for (const value of [true, 1, 'yes', {}].filter((each) => JSON.stringify(each) !== JSON.stringify(asDescribed))) {
        const { status, json } = await service.execute({ app: client.app, ruleId: 1, [name]: value });
        expect([status, fieldsIn(json)]).toEqual([400, [name]]);
      }
      const theirs = await executeIce({ app: client.app, iceId: 1, [name]: true });
      expect(theirs.json).toEqual({ ret: -1, msg: expect.stringMatching(`^${name} .*this runs for real`) });
      // Whatever had begun before would be found before this one.
      const { mockId } = (await runWith({ app: client.app })).record;
      expect(client.found.map((request) => request.mockId)).toEqual([mockId]);
      await finds(`app=${client.app}`, [mockId]);
    });

    it('in the query string is refused as well, of a call and of a batch', async () => {
      await using client = await service.clientThat(answers());
      const body = JSON.stringify({ app: client.app, ruleId: 1 });
      const headers = { 'content-type': 'application/json' };
      const asked = await service.call('/rule-server/mock/execute?dryRun=true', { method: 'POST', headers, body });
      expect([asked.status, fieldsIn(asked.json)]).toEqual([400, ['dryRun']]);
      const csv = { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'uid\n1\n' };
      const batch = await service.call(`/rule-server/mock/batches?app=${client.app}&ruleId=1&dry-run=1`, csv);
      expect([batch.status, fieldsIn(batch.json)]).toEqual([400, ['dry-run']]);
      expect(client.found).toEqual([]);
    });

    it('and says that nothing is to be left out runs the rule', async () => {
      await using client = await service.clientThat(answers());
      for (const value of [false, null])
        expect((await service.execute({ app: client.app, ruleId: 1, dryRun: value })).status).toBe(200);
    });

    it('in the input is data like any other', async () => {
      await using client = await service.clientThat(answers());
      const more = { 'the service': { dryRun: true, stub: 1, dry: true } };
      expect((await service.execute({ app: client.app, ruleId: 1, ...more })).status).toBe(200);
      expect(JSON.parse(client.found[0]?.text ?? '')['the service']).toEqual(more['the service']);
    });
  });

  describe.concurrent('the schema', () => {
    const FIELD = ['key', 'valueType', 'nodeId', 'nodeName'];
    const fieldsOf = async (query: string) => {
      const app = ++apps;
      await cp(join(import.meta.dirname, '../fixtures/app-7'), join(service.sharedDir, String(app)), {
        recursive: true,
      });
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'go', address: 'one' });
      const { status, json } = await service.call(`${SCHEMA}?app=${app}&ruleId=1${query}`);
      expect([status, json.fields.length > 3]).toEqual([200, true]);
      return json.fields.map((field: object) => Object.keys(field));
    };

    it.each(['', '&include='])('with "%s" has what a form needs and nothing else', async (query) => {
      for (const keys of await fieldsOf(query)) expect(keys).toEqual(FIELD);
    });

    it('has the nodes with their settings for those who ask', async () => {
      for (const keys of await fieldsOf('&include=settings')) expect(keys).toEqual([...FIELD, 'nodes']);
    });

    it.each(['tree', 'Settings', 'settings,tree'])('include=%s is refused', async (include) => {
      const { status, json } = await service.call(`${SCHEMA}?app=7&ruleId=1&include=${include}`);
      expect([status, json.errors]).toMatchObject([400, [{ field: 'include', message: 'must be settings' }]]);
    });
  });
});

import { cp, mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/http-call.ts';
import { registerPublished } from '../support/published-client.ts';
import { createResponder, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const APP_7 = join(import.meta.dirname, '../fixtures/app-7');

describe('what there is to run, over HTTP', () => {
  let service: Service;
  let apps = 700;
  beforeAll(async () => {
    // Registrations of these tests do not beat.
    service = await startService({ settings: { CLIENT_TIMEOUT_MS: 60_000 }, leavesFiles: true });
  });
  afterAll(() => service.stop());

  const pathOf = (...parts: (string | number)[]) => join(service.sharedDir, ...parts.map(String));
  const get = (path: string) => service.call(`/rule-server/mock/${path}`);

  /** An app with the captured rules. */
  async function newApp(): Promise<number> {
    const app = ++apps;
    await cp(APP_7, pathOf(app), { recursive: true });
    return app;
  }

  async function write(text: string, ...parts: (string | number)[]): Promise<void> {
    await mkdir(pathOf(...parts.slice(0, -1)), { recursive: true });
    await writeFile(pathOf(...parts), text);
  }

  type Field = { key: string; nodeId: number; nodeName: string };
  const shown = ({ json }: Answer) =>
    json.fields.map(({ key, nodeId, nodeName }: Field) => `${key} ${nodeId} ${nodeName}`);

  describe.concurrent('schema', () => {
    const score = ['score 11 score gate', 'age 14 age', 'vip.level 15 vip', 'uid 17 uid?'];
    it.each([
      ['java', [...score, 'pre_score 18 probe', 'which 18 probe', 'count 13 issue', `\${which} 23 derived`]],
      ['go', [...score, 'pre_score 18 probe', 'count 13 issue', 'which 23 derived']],
      [
        'python',
        [
          ...score,
          ...['score.suffix 18 probe', 'pre_score 18 probe', 'count 13 issue'],
          ...['which 23 derived', `\${which} 23 derived`],
        ],
      ],
    ] as const)('as the %s SDK publishes: every key in tree order, once, with its node', async (sdk, expected) => {
      const app = await newApp();
      await registerPublished({ sharedDir: service.sharedDir, app, sdk, address: 'one' });
      const answer = await get(`schema?app=${app}&ruleId=1`);
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(shown(answer)).toEqual(expected);
      expect(answer.json.fallback).toBe(false);
      for (const field of answer.json.fields) {
        expect(Object.keys(field)).toEqual(['key', 'valueType', 'nodeId', 'nodeName']);
      }
    });

    it('a wanted address that is offline: another client answers for it, and fallback is true', async () => {
      const app = await newApp();
      const { sharedDir } = service;
      await registerPublished({ sharedDir, app, sdk: 'python', address: 'gone', beatAgoMs: null });
      await registerPublished({ sharedDir, app, sdk: 'go', address: 'here' });
      const answer = await get(`schema?app=${app}&ruleId=1&address=gone`);
      expect(answer.json.fallback).toBe(true);
      expect(shown(answer)).toContain('pre_score 18 probe');
      expect((await get(`schema?app=${app}&ruleId=1&address=here`)).json.fallback).toBe(false);
      expect((await get(`schema?app=${app}&ruleId=1&address=never-heard-of`)).json.fallback).toBe(true);
      expect((await get(`schema?app=${app}&ruleId=1`)).json.fallback).toBe(false);
    });

    it('a wanted address that is silent because it runs a rule is not offline', async () => {
      const app = await newApp();
      const { sharedDir } = service;
      await registerPublished({ sharedDir, app, sdk: 'python', address: 'busy', beatAgoMs: null });
      await registerPublished({ sharedDir, app, sdk: 'go', address: 'here' });
      await write('', 'mock', app, 'busy', '.0b0e1d3c-0000-4000-8000-000000000000.open');
      const answer = await get(`schema?app=${app}&ruleId=1&address=busy`);
      expect(answer.json.fallback).toBe(false);
      expect(shown(answer)).toContain(`\${which} 23 derived`);
    });

    it('empty parameters are absent and unknown ones are ignored', async () => {
      const app = await newApp();
      const query = `schema?app=${app}&ruleId=1&confId=&lane=&address=&scene=x`;
      expect(await get(query)).toMatchObject({ status: 200, json: { fields: [], fallback: false } });
    });

    it('an app without readable rules has no fields', async () => {
      expect(await get('schema?app=2000000000&ruleId=1')).toMatchObject({
        status: 200,
        text: '{"fields":[],"fallback":false}',
      });
    });

    it('an id that the readable rules do not have: 404 that names it', async () => {
      const app = await newApp();
      const answers = await Promise.all(
        ['ruleId=999', 'confId=999', 'ruleId=1&confId=30'].map((ids) => get(`schema?app=${app}&${ids}`)),
      );
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect(answers.map(({ json }) => json.error)).toEqual([
        `App ${app} has no rule 999.`,
        `App ${app} has no node 999.`,
        `Rule 1 of app ${app} has no node 30.`,
      ]);
      expect(answers[0]?.headers['content-type']).toBe('application/problem+json');
    });

    it('a parameter that is given twice is named: nobody guesses which one was meant', async () => {
      const answer = await get('schema?app=1&ruleId=&ruleId=5&ruleId=6&other=1&other=2');
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toMatchObject([{ field: 'ruleId', message: 'must be given once, found 2' }]);
      expect((await get('schema?app=1&ruleId=&ruleId=5')).status).not.toBe(400);
    });

    it('every bad parameter is named at once', async () => {
      const answer = await get('schema?app=seven&ruleId=1.5&confId=99999999999999999999');
      expect(answer.status).toBe(400);
      expect(answer.json.errors.map(({ field }: { field: string }) => field)).toEqual(['app', 'ruleId', 'confId']);
      expect((await get('schema?app=1')).json.errors).toMatchObject([
        { field: 'ruleId', message: 'required, unless `confId` is given' },
      ]);
    });

    it('ids beyond 2^53 keep every digit', async () => {
      const app = ++apps;
      const id = '9007199254740993';
      await write(`{"id":${id},"confId":${id},"status":1}`, app, 'bases', `${id}.json`);
      await write(`{"id":${id},"type":5,"confName":"com.sample.AgeFlow"}`, app, 'confs', `${id}.json`);
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'go', address: 'one' });
      const { text } = await get(`schema?app=${app}&ruleId=${id}`);
      expect(text).toBe(
        `{"fields":[{"key":"age","valueType":"Object","nodeId":${id},"nodeName":"AgeFlow"}],"fallback":false}`,
      );
    });

    it('a rule that was edited a moment ago is read as it is now', async () => {
      const app = ++apps;
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'go', address: 'one' });
      await write('{"id":1,"confId":1}', app, 'bases', '1.json');
      for (const name of ['UidFlow', 'AgeFlow', 'UidFlow']) {
        await write(`{"id":1,"type":5,"confName":"com.sample.${name}"}`, app, 'confs', '1.json');
        expect(shown(await get(`schema?app=${app}&ruleId=1`))).toEqual([`${name.slice(0, 3).toLowerCase()} 1 ${name}`]);
      }
    });
  });

  describe.concurrent('apps', () => {
    it('lists apps that have rules, clients or a directory, with the name kept beside the rules', async () => {
      const [withRules, withDirectory] = [await newApp(), ++apps];
      await mkdir(pathOf('mock', withDirectory), { recursive: true });
      await write(`{"id":${withRules},"name":"Campaigns"}`, 'apps', `${withRules}.json`);
      await write(`{"id":${withRules},"name":"a copy"}`, 'apps', `${withDirectory}.json`);
      const { status, json } = await get('apps');
      expect(status).toBe(200);
      expect(json.items).toContainEqual({ app: withRules, name: 'Campaigns' });
      expect(json.items).toContainEqual({ app: withDirectory, name: null });
    });
  });

  describe.concurrent('rules', () => {
    it('lists every rule with its folder, window and version, and names what was passed over', async () => {
      const app = await newApp();
      await write('{', app, 'bases', '99.json');
      const { json } = await get(`rules?app=${app}`);
      expect(json).toMatchObject({ app, version: 4 });
      expect(json.items[0]).toEqual({
        ruleId: 1,
        name: 'rule1',
        confId: 10,
        status: 1,
        updateAt: 1_795_150_000_000,
        timeWindow: { type: 'always', start: null, end: null },
        scenes: ['recharge', 'consume'],
        problems: [],
        folder: 'promo/spring',
      });
      expect(json.skipped).toEqual([
        {
          file: '99.json',
          reason: 'not-json',
          params: { fault: 'json-early', length: 1 },
          message: 'is not JSON: it ends too early, after 1 characters',
        },
      ]);
    });

    it('an answer of many rules arrives whole', async () => {
      const app = ++apps;
      const ids = Array.from({ length: 400 }, (_, at) => at + 1);
      await mkdir(pathOf(app, 'bases'), { recursive: true });
      for (const id of ids)
        await writeFile(pathOf(app, 'bases', `${id}.json`), `{"id":${id},"name":"${'n'.repeat(60)}"}`);
      const answer = await get(`rules?app=${app}`);
      expect(answer.bytes.length).toBeGreaterThan(50_000);
      expect(answer.json.items.map(({ ruleId }: { ruleId: number }) => ruleId)).toEqual(ids);
    });

    it('an app without rules has none, and a bad app is a 400', async () => {
      expect((await get('rules?app=2000000000')).json).toEqual({
        ...{ app: 2_000_000_000, version: null },
        ...{ items: [], nextCursor: null, skipped: [] },
      });
      const bad = await get('rules');
      expect([bad.status, bad.json.error]).toEqual([400, '`app`: must be an integer from 1 to 2147483647.']);
      expect((await get('rules?app=0')).status).toBe(400);
    });
  });

  describe.concurrent('clients', () => {
    it('tells who is online, busy and offline, with SDK, version and the age of the heartbeat', async () => {
      const app = ++apps;
      const { sharedDir } = service;
      await registerPublished({ sharedDir, app, sdk: 'go', address: 'dead', beatAgoMs: 90_000 });
      const old = new Date(Date.now() - 90_000);
      await utimes(pathOf('clients', app, 'b_dead.json'), old, old);
      await registerPublished({ sharedDir, app, sdk: 'python', address: 'host:1', lane: 'beta' });
      await mkdir(pathOf('mock', app, 'shell'), { recursive: true });
      const id = '0b0e1d3c-0000-4000-8000-000000000000';
      await write('', 'mock', app, 'host_1', `.${id}.open`);
      const { json } = await get(`clients?app=${app}`);
      const pickUps = ['lastPickUpAt', 'noPickUpSince'];
      const members = [
        'address',
        'lane',
        'registered',
        'state',
        'dialect',
        'sdk',
        'dryRun',
        'lastHeartbeat',
        'heartbeatAgeMs',
      ];
      for (const client of json.items)
        expect(Object.keys(client)).toEqual([...members, 'loadedVersion', 'open', ...pickUps]);
      expect(json.items).toMatchObject([
        {
          address: 'dead',
          lane: null,
          registered: true,
          state: 'offline',
          dialect: 'ice',
          sdk: 'go',
          loadedVersion: 3,
        },
        { address: 'host:1', lane: 'beta', registered: true, state: 'busy', sdk: 'python', open: 1 },
        {
          address: 'shell',
          registered: false,
          state: 'online',
          dialect: 'rule',
          lastHeartbeat: null,
          loadedVersion: null,
        },
      ]);
      expect(json.items[0].heartbeatAgeMs).toBeGreaterThanOrEqual(90_000);
      expect(json.items[1].heartbeatAgeMs).toBeLessThan(30_000);
    });

    it('names registrations that were passed over', async () => {
      const app = ++apps;
      await write('{"address":', 'clients', app, 'm_half.json');
      expect((await get(`clients?app=${app}`)).json).toEqual({
        app,
        items: [],
        nextCursor: null,
        skipped: [{ file: 'm_half.json', reason: 'no-registration', params: {}, message: 'is not a registration' }],
      });
    });

    it('behind a link there is nobody, which is said', async () => {
      const app = ++apps;
      await mkdir(pathOf('elsewhere'), { recursive: true });
      await mkdir(pathOf('clients'), { recursive: true });
      await symlink(pathOf('elsewhere'), pathOf('clients', app));
      const answer = await get(`clients?app=${app}`);
      expect(answer.status).toBe(422);
      expect(answer.json.error).toBe(
        `clients/${app} or mock/${app} is reached through a link, which is never followed.`,
      );
    });
  });

  describe.concurrent('tree', () => {
    it('has label, class, type, inverse, forward, window and keys of every node, and who reads and writes what', async () => {
      const app = await newApp();
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'python', address: 'one' });
      const { status, json } = await get(`tree?app=${app}&ruleId=1`);
      expect(status).toBe(200);
      expect(json).toMatchObject({ rule: { id: 1, name: 'rule1' }, version: 4, cycle: null, missing: [], shared: [] });
      const [score, any, issue, expired] = json.root.children;
      expect(score).toMatchObject({ id: 11, label: 'score gate', className: 'com.sample.ScoreFlow', type: 'LeafFlow' });
      expect(any.children[1]).toMatchObject({ id: 15, inverse: true });
      expect(issue.forward).toMatchObject({ id: 16, type: 'All' });
      expect(expired.timeWindow).toEqual({ type: 'before', start: null, end: 1000 });
      expect(json.keys.find(({ key }: { key: string }) => key === 'uid')).toMatchObject({
        readers: [17, 13],
        writers: [],
      });
    });

    it('says why a file is no use', async () => {
      const app = await newApp();
      await write('{"id":90', app, 'confs', '90.json');
      expect(await get(`tree?app=${app}&confId=90`)).toMatchObject({
        status: 422,
        json: { error: `In app ${app} the file of node 90 is not JSON: it ends too early, after 8 characters.` },
      });
    });

    it('an unknown rule is a 404', async () => {
      const app = await newApp();
      expect(await get(`tree?app=${app}&ruleId=999`)).toMatchObject({ status: 404, json: { success: false } });
    });
  });

  it('a question is answered while executions are open', async () => {
    const app = ++apps;
    const client = await createResponder({ sharedDir: service.sharedDir, app, does: staysSilent });
    const executing = service.execute({ app, ruleId: 1 });
    await client.firstRequest();
    expect((await get(`clients?app=${app}`)).json.items[0]).toMatchObject({ state: 'online', open: 1 });
    await (await client.firstRequest()).pickUp();
    await expect
      .poll(async () => (await get(`clients?app=${app}`)).json.items[0].state, { timeout: 60_000 })
      .toBe('busy');
    const request = await client.firstRequest();
    await request.answer('{"success":true}');
    expect((await executing).status).toBe(200);
    await client.stop();
  });
});

describe('without a worker', () => {
  it('nobody can tell: 503 with Retry-After, in QUEUE_TIMEOUT_MS', async () => {
    await using service = await startService({ workers: 0, settings: { QUEUE_TIMEOUT_MS: 300 } });
    const answer = await service.call('/rule-server/mock/apps');
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.json.error).toBe('No worker answered within 300 ms. Try again in a moment.');
  });
});

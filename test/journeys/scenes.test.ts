import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRuleClient, type Data, type RuleClient } from '../../src/client/client.ts';
import { type Dialect, dialects } from '../../src/worker/files/dialects/dialects.ts';
import { eventually } from '../support/eventually.ts';
import { type Service, startService } from '../support/start-service.ts';

class GiveCoupon {
  amount = 1;
  doResult(service: Data): boolean {
    service.put('coupon', this.amount);
    if (service.scene) service.put('scene', service.scene);
    return true;
  }
}

const APP = 7;
let service: Service;
let client: RuleClient;
beforeAll(async () => {
  service = await startService({ settings: { ICE_ENDPOINTS: 1 } });
  const write = async (folder: string, id: number, members: object) => {
    await mkdir(join(service.sharedDir, `${APP}`, folder), { recursive: true });
    await writeFile(join(service.sharedDir, `${APP}`, folder, `${id}.json`), JSON.stringify({ id, ...members }));
  };
  for (const id of [3, 12, 20]) {
    const confField = JSON.stringify({ amount: id });
    await write('confs', id, { status: 1, type: 6, confName: 'GiveCoupon', confField });
  }
  await write('bases', 12, { status: 1, confId: 12, scenes: 'welcome,checkout' });
  await write('bases', 20, { status: 1, confId: 20, scenes: 'checkout' });
  await write('bases', 31, { status: 1, confId: 12, scenes: 'farewell' });
  await write('bases', 3, { status: -1, confId: 3, scenes: 'checkout' });
  client = await createRuleClient({ app: APP, sharedDir: service.sharedDir, leaves: { GiveCoupon } });
});
afterAll(async () => {
  await client.close();
  await service.stop();
});

const post = (path: string, body: object, headers = {}) =>
  service.call(path, { method: 'POST', headers, body: JSON.stringify({ app: APP, ...body }) });
const execute = (body: object, headers = {}) => post('/rule-server/mock/execute', body, headers);

it('a scene runs its first released rule, by id, and the execution is one of that rule', async () => {
  const { status, json } = await execute({ scene: 'checkout', 'the service': { uid: 1 } });
  expect({ status, json }).toMatchObject({
    status: 200,
    json: { success: true, 'the service': { uid: 1, coupon: 12 } },
  });
  const kept = await service.call(`/rule-server/mock/executions/${json.mockId}`);
  expect(kept.json).toMatchObject({ ruleId: 12, confId: null });
});

it('under a key it runs once, and the repeat has the same answer', async () => {
  const headers = { 'idempotency-key': 'a-scene-once' };
  const [first, repeat] = [await execute({ scene: 'welcome' }, headers), await execute({ scene: 'welcome' }, headers)];
  expect(first.json).toMatchObject({ 'the service': { coupon: 12 } });
  expect(repeat.json).toEqual(first.json);
});

it.each([
  [{ scene: 'chekout' }, 'scene', 'names no rule: app 7 has released none in it'],
  [{ scene: 'checkout', ruleId: 12 }, 'scene', 'names the rule to run: give it without ruleId and confId'],
  [{ scene: 7, ruleId: 1 }, 'scene', 'must be a string, found 7'],
  [{ scene: '' }, 'ruleId', 'required, unless `confId` or `scene` is given'],
  [{ scenes: 'checkout', ruleId: 1 }, 'scenes', 'is not known here; did you mean "scene"?'],
])('%j is refused, naming the field', async (body, field, message) => {
  const { status, json } = await execute(body);
  expect({ status, errors: json.errors }).toMatchObject({ status: 400, errors: [{ field, message }] });
});

it('the published paths take it too: a rule counts before it, and it counts before a node', async () => {
  const ran = async (body: object) => (await post('/ice-server/mock/execute', body)).json;
  expect(await ran({ scene: 'checkout', confId: 20 })).toMatchObject({ ret: 0, data: { roam: { coupon: 12 } } });
  expect(await ran({ scene: 'checkout', iceId: 20 })).toMatchObject({ ret: 0, data: { roam: { coupon: 20 } } });
  expect(await ran({ scene: 'nowhere' })).toMatchObject({
    ret: -1,
    msg: expect.stringContaining('scene: names no rule'),
  });
  expect(await ran({ scene: '' })).toMatchObject({ ret: -2 });
});

it('under a key the repeat has the same answer, although no rule is in that scene any more', async () => {
  const headers = { 'idempotency-key': 'a-scene-that-goes' };
  const body = { scene: 'farewell', 'the service': { uid: 3 } };
  const first = await execute(body, headers);
  expect(first).toMatchObject({ status: 200, json: { 'the service': { uid: 3, coupon: 12 } } });
  await rm(join(service.sharedDir, `${APP}`, 'bases', '31.json'));
  await eventually(async () => expect((await execute({ scene: 'farewell' })).status).toBe(400));
  expect(await execute(body, headers)).toMatchObject({ status: 200, json: first.json });
});

it('under a key a scene without a rule is refused, and the key is free for the call once there is one', async () => {
  const headers = { 'idempotency-key': 'a-scene-that-comes' };
  const body = { scene: 'tomorrow' };
  expect((await execute(body, headers)).json.errors).toMatchObject([{ field: 'scene' }]);
  const base = { id: 32, status: 1, confId: 12, scenes: 'tomorrow' };
  await writeFile(join(service.sharedDir, `${APP}`, 'bases', '32.json'), JSON.stringify(base));
  await eventually(async () => expect((await execute(body, headers)).status).toBe(200));
});

it('reaches the leaves, in the names of the client', async () => {
  const given = await execute({ scene: 'checkout' });
  expect(given.json['the service']).toMatchObject({ coupon: 12, scene: 'checkout' });
  expect((await execute({ ruleId: 12 })).json['the service']).toEqual({ coupon: 12 });
  expect((await execute({ scene: 'checkout', dryRun: true })).json).toMatchObject({ success: true, dryRun: true });
  const published = await post('/ice-server/mock/execute', { scene: 'welcome', iceId: 20 });
  expect(published.json.data.roam).toEqual({ coupon: 20, scene: 'welcome' });
});

it('stands in a request so that it chooses nothing there', async () => {
  const content = { ...{ mockId: 'm', app: 7, confId: null, ts: null, target: 'all', input: '{}' }, scene: 'checkout' };
  const names = (dialect: Dialect, ruleId: string | null) =>
    dialect.requestMembers({ ...content, ruleId }, 1).map(([name]) => name);
  expect(names(dialects.ice, '12')).toContain('scene');
  expect(names(dialects.ice, null)).not.toContain('scene');
  expect(names(dialects.rule, '12')).toContain('ofScene');
  expect(names(dialects.rule, '12')).not.toContain('scene');
});

import { describe, expect, it, vi } from 'vitest';
import { releaseRule } from '../support/release-rule.ts';
import { answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const BATCHES = '/rule-server/mock/batches';
const PATIENCE = { timeout: 60_000, interval: 50 };

/** AND 1 of the leaves 2 and 3: 2 asks for a cost of 100, 3 is TRUE. */
const rule = { 1: { type: 1, sonIds: '2,3' }, 2: leaf('spends'), 3: leaf('greets') };
function leaf(name: string) {
  return { type: 6, name, confName: `com.shop.${name}` };
}
const decides = answersWith((request) => {
  const cost = Number(/"cost":(\d+)/.exec(request.text)?.[1] ?? 0);
  const process = cost >= 100 ? '[2:spends:T:0][3:greets:T:0][1:And:T:0]' : '[2:spends:F:0][1:And:F:0]';
  return resultText(request, { process });
});

describe('the node that decided', () => {
  it('is told in a list of runs by the rules that each ran on, and never of an app whose data is not kept', async () => {
    await using service = await startService({ settings: { HISTORY_OFF: '8' } });
    for (const app of [7, 8]) await releaseRule(service.sharedDir, app, rule);
    await using _kept = await createResponder({ sharedDir: service.sharedDir, app: 7, does: decides });
    await using _off = await createResponder({ sharedDir: service.sharedDir, app: 8, does: decides });
    for (const app of [8, 7])
      for (const cost of [100, 99]) await service.execute({ app, ruleId: 1, 'the service': { cost } });
    await vi.waitFor(async () => {
      const { json } = await service.call('/rule-server/mock/executions?app=7&include=details');
      expect(json.items).toMatchObject([
        { outcome: 'FALSE', decidedBy: { id: '2', name: 'spends' }, input: { cost: 99 } },
        { outcome: 'TRUE', decidedBy: { id: '1', name: 'And' }, input: { cost: 100 } },
      ]);
    }, PATIENCE);
    const off = await service.call('/rule-server/mock/executions?app=8&include=details');
    expect(off.text).not.toContain('spends');
    const plain = await service.call('/rule-server/mock/executions?app=7&include=input');
    expect(plain.text).not.toContain('decidedBy');
    const bad = await service.call('/rule-server/mock/executions?include=tree');
    expect([bad.status, bad.json.errors]).toMatchObject([
      400,
      [{ field: 'include', code: 'invalid-value', params: { values: 'input, details' } }],
    ]);
  });
});

describe('the items of a batch', () => {
  it('are found by what they came to and by values of their input, and tell which node decided', async () => {
    await using service = await startService({ settings: { MASK: '7:card' } });
    await releaseRule(service.sharedDir, 7, rule);
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: decides });
    const batchId = await begin(service, [
      '{"name":"small","the service":{"cost":99,"uid":9007199254740993,"card":"4111"},"expect":{"outcome":"TRUE"}}',
      '{"name":"large","the service":{"cost":100,"uid":9007199254740992}}',
      `{"name":"long","the service":{"cost":101,"note":"${'x'.repeat(5000)}"}}`,
    ]);
    const names = async (query: string) => (await itemsOf(service, batchId, query)).map(({ name }) => name);
    expect(await names('')).toEqual(['small', 'large', 'long']);
    expect(await names('?outcome=TRUE')).toEqual(['large', 'long']);
    expect(await names('?outcome=FALSE&verdict=failed')).toEqual(['small']);
    expect(await names('?where=uid=9007199254740993')).toEqual(['small']);
    expect(await names('?where=cost>=100&where=uid!=1&limit=1')).toEqual(['large']);
    const hidden = await service.call(`${BATCHES}/${batchId}/items?where=card="4111"`);
    expect([hidden.status, hidden.text]).toEqual([400, expect.stringContaining('asks for card, which is hidden')]);
    const bad = await service.call(`${BATCHES}/${batchId}/items?outcome=true`);
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('must be one of TRUE')]);

    const { text } = await service.call(`${BATCHES}/${batchId}/items?include=details`);
    expect(text).toContain('"the service":{"cost":99,"uid":9007199254740993,"card":"***"}');
    expect(await itemsOf(service, batchId, '?include=details')).toMatchObject([
      { name: 'small', expect: { outcome: 'TRUE' }, decidedBy: { id: '2', name: 'spends' } },
      { name: 'large', expect: null, decidedBy: { id: '1', name: 'And' } },
      { name: 'long', 'the service': null },
    ]);
  });

  it('come in pages, the newest first, and a cursor that is of none is named', async () => {
    await using service = await startService({});
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: decides });
    const begun: string[] = [];
    for (const name of ['a', 'b', 'c']) begun.unshift(await begin(service, [`{"name":"${name}"}`]));
    const page = async (query: string) => (await service.call(`${BATCHES}?app=7&limit=2${query}`)).json;
    const first = await page('');
    const next = await page(`&cursor=${first.nextCursor}`);
    const ids = [first, next].map(({ items }) => items.map(({ batchId }: { batchId: string }) => batchId));
    expect([ids, next.nextCursor]).toEqual([[begun.slice(0, 2), begun.slice(2)], null]);
    expect(await page('&cursor=none')).toMatchObject({ status: 400, errors: [{ field: 'cursor' }] });
  });
});

async function begin(service: Service, cases: string[]): Promise<string> {
  const body = `{"app":7,"ruleId":1,"cases":[${cases.join(',')}]}`;
  const headers = { 'content-type': 'application/json' };
  const { json } = await service.call(BATCHES, { method: 'POST', body, headers });
  await vi.waitFor(
    async () => expect((await service.call(`${BATCHES}/${json.batchId}`)).json.state).toBe('finished'),
    PATIENCE,
  );
  return json.batchId;
}

type Item = { name: string };

const itemsOf = async (service: Service, batchId: string, query: string): Promise<Item[]> =>
  (await service.call(`${BATCHES}/${batchId}/items${query}`)).json.items;

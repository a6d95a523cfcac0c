import { describe, expect, it } from 'vitest';
import { createRuleClient, type Data, type Leaves } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import { releaseRule } from '../support/release-rule.ts';
import { answers, answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const BATCHES = '/rule-server/mock/batches';
const effects: string[] = [];

class Spend {
  min = 0;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}
class Pay {
  doResult(service: Data): boolean {
    effects.push('paid');
    service.put('paid', true);
    return true;
  }
}
class Count {
  doResult(service: Data): boolean {
    service.put('points', service.int('points', 0) + 1);
    return true;
  }
}
class LookUp {
  doNone(service: Data): void {
    effects.push('looked up');
    service.put('level', 'gold');
  }
}
class Message {
  doFlow(): boolean {
    effects.push('sent');
    return true;
  }
}

const leaves: Leaves = {
  'a.Spend': Spend,
  'a.Pay': Pay,
  'a.Count': { leaf: Count, effects: false },
  'a.LookUp': LookUp,
  'a.Message': { leaf: Message, effects: true },
};
/** All of the rule 1: a condition, a payment, a count, a look-up and a message. */
const NODES = {
  2: [5, 'a.Spend', '{"min":100}'],
  3: [6, 'a.Pay'],
  4: [6, 'a.Count'],
  5: [7, 'a.LookUp'],
  6: [5, 'a.Message'],
};
const CASE = { name: 'one', 'the service': { cost: 120 } };
const CALL = { app: 7, ruleId: 1, 'the service': { cost: 120, big: 1 } };

describe('a run without effects', () => {
  it('calls no leaf that has effects, tells what it did instead, and is told apart from a real one', async () => {
    await using service = await startService({});
    await using _client = await shop(service);
    const { status, json, text } = await service.execute({ ...CALL, dryRun: true });
    expect(status, text).toBe(200);
    expect(effects).toEqual(['looked up']);
    expect(json).toMatchObject({
      success: true,
      outcome: 'TRUE',
      dryRun: true,
      effects: { stubbed: [], assumed: [3, 6], unsure: [5] },
      'the service': { cost: 120, points: 1, level: 'gold' },
    });
    expect(json['the service']).not.toHaveProperty('paid');
    expect(json.steps.find(({ nodeId }: { nodeId: number }) => nodeId === 3)).toMatchObject({
      ...{ outcome: 'TRUE', instead: 'assumed', writes: [] },
    });
    const kept = await service.call(`/rule-server/mock/executions/${json.mockId}`);
    expect(kept.json).toMatchObject({ dryRun: true, ruleId: 1, outcome: 'TRUE', state: 'succeeded' });

    const real = await service.execute(CALL);
    expect(effects).toEqual(['looked up', 'paid', 'looked up', 'sent']);
    expect(real.json).not.toHaveProperty('dryRun');
    const { items } = (await service.call('/rule-server/mock/executions?app=7')).json;
    expect(items.map(({ dryRun }: { dryRun: boolean }) => dryRun)).toEqual([false, true]);
  });

  it('puts stubs in the place of nodes: their value is final, and what they set is exact', async () => {
    await using service = await startService({});
    await using _client = await shop(service);
    const stub = '{"2":"FALSE","5":{"outcome":"NONE","set":{"level":"none","id":9007199254740993}}}';
    const body = `{"app":7,"ruleId":1,"dryRun":true,"stub":${stub},"the service":{"cost":120}}`;
    const { text, json } = await service.call('/rule-server/mock/execute', { method: 'POST', body });
    expect(effects).toEqual([]);
    expect(json).toMatchObject({ outcome: 'TRUE', effects: { stubbed: [2, 5], assumed: [3, 6], unsure: [] } });
    expect(text).toContain('"id":9007199254740993');
    expect(json.steps.find(({ nodeId }: { nodeId: number }) => nodeId === 2)).toMatchObject({
      ...{ outcome: 'FALSE', instead: 'stubbed', reads: [] },
    });
  });

  it('is refused by its field where a stub is for no node of the tree, before anything is sent', async () => {
    await using service = await startService({});
    await using _client = await shop(service);
    const whole = { ...CALL, dryRun: true };
    for (const [asked, id] of [
      [{ stub: { 2: 'TRUE', 777: 'TRUE' } }, 777],
      [{ confId: 2, stub: { 3: 'TRUE' } }, 3],
      [{ ruleId: null, confId: 2, stub: { 1: 'TRUE' } }, 1],
    ] as const) {
      const { status, json } = await service.execute({ ...whole, ...asked });
      expect([status, json.errors]).toMatchObject([
        400,
        [{ field: `stub.${id}`, message: expect.stringContaining('is no node of the tree') }],
      ]);
    }
    expect(effects).toEqual([]);
  });

  it('goes to a client that can, and is refused before anything is sent where none can', async () => {
    await using service = await startService({});
    await using other = await createResponder({
      ...{ sharedDir: service.sharedDir, app: 7 },
      does: answersWith((request) => resultText(request)),
    });
    for (const target of ['all', `address:${other.address}`]) {
      const { status, json } = await service.execute({ ...CALL, target, dryRun: true });
      expect([status, json.errors[0].field]).toEqual([400, 'dryRun']);
      expect(json.errors[0].message).toContain(
        `needs a client that can run without effects, and ${other.address} (SDK: Node) cannot`,
      );
    }
    await using _client = await shop(service);
    for (let call = 0; call < 5; call++)
      expect((await service.execute({ ...CALL, dryRun: true })).json.dryRun).toBe(true);
    expect(other.found).toEqual([]);
  });

  it.each([
    [
      'JSON',
      '/rule-server/mock/batches',
      'application/json',
      JSON.stringify({ app: 7, ruleId: 1, dryRun: true, cases: [CASE, CASE] }),
    ],
    ['CSV', '/rule-server/mock/batches?app=7&ruleId=1&dryRun=true', 'text/csv', 'cost\n120\n120\n'],
  ])('of many inputs, as %s, goes to clients that can as well', async (_what, path, type, body) => {
    await using service = await startService({});
    await using _client = await shop(service);
    await using other = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    const begun = await service.call(path, { method: 'POST', headers: { 'content-type': type }, body });
    expect(begun.json, begun.text).toMatchObject({ dryRun: true, items: 2 });
    const state = async () => (await service.call(`/rule-server/mock/batches/${begun.json.batchId}`)).json;
    await eventually(async () => expect((await state()).state).toBe('finished'));
    expect((await state()).counts).toMatchObject({ ran: 2 });
    expect(effects).toEqual(['looked up', 'looked up']);
    expect(other.found).toEqual([]);
    const { items } = (await service.call(`/rule-server/mock/batches/${begun.json.batchId}/items`)).json;
    const [{ mockId }] = items;
    expect((await service.call(`/rule-server/mock/executions/${mockId}`)).json).toMatchObject({ dryRun: true });
  });

  it.each([
    ['recorded runs', {}, true],
    ['recorded runs, for real by name', { dryRun: false }, false],
    ['other cases', { cases: [CASE] }, false],
  ])('is what a batch of %s comes to by itself, and its repeat', async (_what, given, dryRun) => {
    await using service = await startService({});
    await using _client = await shop(service);
    const ran = (await service.execute(CALL)).json;
    const isRecorded = !('cases' in given);
    const asked = isRecorded ? { ...given, recorded: [ran.mockId] } : given;
    effects.length = 0;
    const post = (body: object) =>
      service.call(BATCHES, { method: 'POST', body: JSON.stringify({ app: 7, ruleId: 1, ...body }) });
    const ended = async ({ batchId }: { batchId: string }) =>
      eventually(async () =>
        expect((await service.call(`${BATCHES}/${batchId}`)).json).toMatchObject({ state: 'finished' }),
      );
    const first = await post(asked);
    expect(first.json, first.text).toMatchObject({ dryRun });
    await ended(first.json);
    expect(effects.includes('paid')).toBe(!dryRun);
    const repeat = await post({ from: first.json.batchId });
    expect(repeat.json).toMatchObject({ dryRun: isRecorded, ...(isRecorded && { against: 'recorded' }) });
    await ended(repeat.json);
    expect(effects.filter((effect) => effect === 'paid')).toHaveLength(dryRun ? 0 : isRecorded ? 1 : 2);
  });

  it('of many inputs is refused whole where a target has no client that can, before anything is sent', async () => {
    await using service = await startService({});
    await using _client = await shop(service);
    await using other = await createResponder({ sharedDir: service.sharedDir, app: 7, lane: 'old', does: answers() });
    const body = { app: 7, ruleId: 1, targets: ['all', 'lane:old', `address:${other.address}`], cases: [CASE] };
    for (const asked of [{ dryRun: true }]) {
      const { status, json } = await service.call(BATCHES, {
        method: 'POST',
        body: JSON.stringify({ ...body, ...asked }),
      });
      expect([status, json.errors[0].field]).toEqual([400, 'dryRun']);
      expect(json.errors[0].message).toContain(`no client of lane:old, address:${other.address} can`);
    }
    expect((await service.call(`${BATCHES}?app=7`)).json.items).toEqual([]);
    expect(other.found).toEqual([]);
  });

  it.each([
    ['finds nothing to run', { success: false, error: 'nothing to run', process: null }, false, 'dry-run-impossible'],
    ['says that it did it', { success: true, process: null }, true, 'dry-run-ignored'],
    ['ran it all the same', { process: '[1:All:T:0]' }, true, 'dry-run-ignored'],
  ])('handed by force to a client that knows of none, which %s', async (_what, members, mayHaveRun, reason) => {
    await using service = await startService({});
    await using other = await createResponder({
      ...{ sharedDir: service.sharedDir, app: 7, dryRun: true },
      does: answersWith((request) => resultText(request, members)),
    });
    const { json } = await service.execute({ ...CALL, confId: 3, dryRun: true });
    expect(json).toMatchObject({ code: 'client-ignored-dry-run', mayHaveRun, reason });
    // What a client that knows of no dry run would look for is not there.
    const request = JSON.parse(other.found[0]?.text ?? '');
    expect(request).toMatchObject({ dryRun: { ruleId: 1, confId: 3, stub: {} } });
    for (const name of ['ruleId', 'confId', 'iceId', 'scene']) expect(request).not.toHaveProperty(name);
  });
});

/** A Node client of app 7, and its rule. */
async function shop(service: Service) {
  effects.length = 0;
  const ofLeaves = Object.entries(NODES).map(([id, [type, confName, confField = '']]) => [
    id,
    { type, confName, confField },
  ]);
  await releaseRule(service.sharedDir, 7, { 1: { type: 3, sonIds: '2,3,4,5,6' }, ...Object.fromEntries(ofLeaves) });
  const client = await createRuleClient({ app: 7, sharedDir: service.sharedDir, heartbeatMs: 250, leaves });
  return { [Symbol.asyncDispose]: () => client.close() };
}

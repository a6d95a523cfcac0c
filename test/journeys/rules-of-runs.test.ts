import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuleClient, type Data } from '../../src/client/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  answers,
  answersWith,
  type Behaviour,
  createResponder,
  picksUpAndStaysSilent,
  resultText,
} from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const waiting = { for: null as Promise<void> | null };

/** Its settings stay those that it began with, however long a test lets it wait. */
class Spend {
  min = 0;
  async doFlow(service: Data): Promise<boolean> {
    await waiting.for;
    return Number(service.get('cost')) >= this.min;
  }
}

const EXECUTIONS = '/rule-server/mock/executions';

describe('the rules of a run', () => {
  it('are told with it, and its tree is the one it ran on after other rules were released', async () => {
    await using service = await startService({});
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    await release(service, { version: 1, min: 100 });
    const first = await run(service);
    expect(first.rules).toMatchObject({ released: 1, loaded: 1, digest: expect.stringMatching(/^[\w-]{22}$/) });
    await eventually(async () => expect((await treeOf(service, first.mockId)).digest).toBe(first.rules.digest));

    await release(service, { version: 2, min: 80 });
    const second = await run(service);
    expect(second.rules.released).toBe(2);
    expect(second.rules.digest).not.toBe(first.rules.digest);
    expect(minIn(await treeOf(service, first.mockId))).toBe(100);
    await eventually(async () => expect(minIn(await treeOf(service, second.mockId))).toBe(80));
    const now = await service.call('/rule-server/mock/tree?app=7&ruleId=1');
    expect(now.json.digest).toBe(second.rules.digest);

    await release(service, { version: 3, min: 100 });
    expect((await run(service)).rules).toMatchObject({ released: 3, digest: first.rules.digest }); // the same rules again
  });

  it('of a client that tells them are those that it told, with their tree', async () => {
    await using service = await startService({});
    await release(service, { version: 1, min: 100 });
    const told = { version: 1, digest: '' };
    const client = { sharedDir: service.sharedDir, app: 7 };
    await using _client = await createResponder({
      ...client,
      does: answersWith((request) => resultText(request, told.digest === '' ? {} : { rules: told })),
    });
    const first = await run(service);
    expect(first.rules).not.toHaveProperty('told');
    await release(service, { version: 2, min: 90 });
    const ofSecond: string = (await service.call('/rule-server/mock/tree?app=7&ruleId=1')).json.digest;
    await release(service, { version: 3, min: 80 });

    Object.assign(told, { version: 1, digest: first.rules.digest });
    const lagging = await run(service);
    expect(lagging.rules).toEqual({ released: 3, loaded: 1, digest: first.rules.digest, told: true });
    expect(minIn(await treeOf(service, lagging.mockId))).toBe(100);

    Object.assign(told, { version: 2, digest: ofSecond }); // nothing ran on version 2 before
    const second = await run(service);
    expect(second.rules).toMatchObject({ released: 3, loaded: 2, told: true });
    await eventually(async () => expect(minIn(await treeOf(service, second.mockId))).toBe(90));
  });

  it.each([
    ['a version that is none', { version: '1', digest: 'a'.repeat(22) }],
    ['a digest that is none', { version: 1, digest: '../../8/rules' }],
    ['no object', 'version 1'],
  ])('are what the worker read where the client tells %s', async (_, rules) => {
    await using service = await startService({});
    await release(service, { version: 1, min: 100 });
    const does = answersWith((request) => resultText(request, { rules }));
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does });
    const { rules: known, result } = await run(service);
    expect(known).toEqual({ released: 1, loaded: 1, digest: expect.stringMatching(/^[\w-]{22}$/) });
    expect(result.rules).toEqual(rules); // the answer is as the client wrote it
  });

  it('are not sure where files had changed under one version, until the next one', async () => {
    await using service = await startService({});
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    await release(service, { version: 1, min: 100 });
    expect((await run(service)).rules).not.toHaveProperty('unsure');
    await release(service, { version: 1, min: 80 });
    await eventually(async () => expect((await run(service)).rules).toMatchObject({ released: 1, unsure: true }));
    await release(service, { version: 1, min: 100 });
    await eventually(async () => expect((await run(service)).rules).toMatchObject({ released: 1, unsure: true }));
    await release(service, { version: 2, min: 80 });
    expect((await run(service)).rules).not.toHaveProperty('unsure');
  });

  it('of our own client are those that it ran, right after a release', async () => {
    await using service = await startService({});
    await release(service, { version: 1, min: 100 });
    const leaves = { 'a.Spend': Spend };
    const client = await createRuleClient({ app: 7, sharedDir: service.sharedDir, leaves });
    try {
      expect((await run(service)).rules).toMatchObject({ released: 1, loaded: 1, told: true });
      await release(service, { version: 2, min: 80 });
      const second = await run(service);
      expect(second.rules).toMatchObject({ released: 2, loaded: 2, told: true });
      await eventually(async () => expect(minIn(await treeOf(service, second.mockId))).toBe(80));
    } finally {
      await client.close();
    }
  });

  it('are about those of a client that says nothing and answers after another release, and only of that run', async () => {
    await using service = await startService({});
    await release(service, { version: 1, min: 100 });
    const released = Promise.withResolvers<void>();
    const client = { sharedDir: service.sharedDir, app: 7, as: 'go' as const };
    await using silent = await createResponder({ ...client, does: answersGo() });
    const before = await run(service);
    silent.does = answersGo(released.promise);
    const during = run(service);
    await eventually(async () => expect(await stateOf(service)).toBe('picked-up'));
    await release(service, { version: 2, min: 80 });
    released.resolve();
    const { rules } = await during;
    const sent = { released: 1, loaded: 1, digest: before.rules.digest };
    expect([before.rules, rules]).toEqual([sent, { ...sent, about: true }]);
    const after = await run(service);
    expect(after.rules).toEqual({ released: 2, loaded: 1, digest: expect.not.stringContaining(before.rules.digest) });
    expect(await rulesOf(service, before.mockId)).toEqual(sent);
  });

  it('of a late answer are those that it tells', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 500 } });
    await release(service, { version: 1, min: 100 });
    const timedOut = Promise.withResolvers<void>();
    waiting.for = timedOut.promise;
    const client = await createRuleClient({ app: 7, sharedDir: service.sharedDir, leaves: { 'a.Spend': Spend } });
    try {
      const { mockId, sent } = await runInVainOnFirst(service);
      await release(service, { version: 2, min: 80 });
      timedOut.resolve();
      await untilAnsweredLate(service, mockId);
      expect(await rulesOf(service, mockId)).toEqual({ ...sent, told: true });
      expect(minIn(await treeOf(service, mockId))).toBe(100);
    } finally {
      waiting.for = null;
      await client.close();
    }
  });

  it('of a late answer that says nothing are about those that were sent once others are released', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 500 } });
    await release(service, { version: 1, min: 100 });
    const timedOut = Promise.withResolvers<void>();
    const client = { sharedDir: service.sharedDir, app: 7, as: 'go' as const };
    await using _silent = await createResponder({ ...client, does: answersGo(timedOut.promise) });
    const { mockId, sent } = await runInVainOnFirst(service);
    await release(service, { version: 2, min: 80 });
    timedOut.resolve();
    await untilAnsweredLate(service, mockId);
    expect(await rulesOf(service, mockId)).toEqual({ ...sent, about: true });
  });

  it('of a late answer have their tree, also where nothing else ran on them', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 500 } });
    await release(service, { version: 1, min: 100 });
    const { digest } = (await service.call('/rule-server/mock/tree?app=7&ruleId=1')).json;
    await release(service, { version: 2, min: 80 });
    const client = { sharedDir: service.sharedDir, app: 7, does: picksUpAndStaysSilent };
    await using lagging = await createResponder(client);
    const { mockId } = await runInVain(service);
    const request = await lagging.firstRequest();
    await request.answer(resultText(request, { rules: { version: 1, digest } }));
    await untilAnsweredLate(service, mockId);
    expect(await rulesOf(service, mockId)).toEqual({ released: 2, loaded: 1, digest, told: true });
    await eventually(async () => expect(minIn(await treeOf(service, mockId))).toBe(100));
  });

  it('are not kept of an app in HISTORY_OFF, nor is their tree', async () => {
    await using service = await startService({ settings: { HISTORY_OFF: '7' } });
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    await release(service, { version: 1, min: 100 });
    const begun = await service.execute({ app: 7, ruleId: 1 }, { headers: { prefer: 'respond-async' } });
    await eventually(async () => {
      const { json } = await service.call(`${EXECUTIONS}/${begun.json.mockId}?include=tree`);
      expect(json).toMatchObject({ state: 'succeeded', rules: null, tree: null });
    });
  });
});

async function release({ sharedDir }: Service, { version, min }: { version: number; min: number }): Promise<void> {
  const folder = join(sharedDir, '7');
  for (const name of ['bases', 'confs', 'versions']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'bases/1.json'), `{"id":1,"app":7,"name":"gate","status":1,"confId":2}`);
  const field = JSON.stringify(JSON.stringify({ min }));
  const node = `{"id":2,"status":1,"type":5,"confName":"a.Spend","confField":${field}}`;
  await writeFile(join(folder, 'confs/2.json'), node);
  const update = `{"version":${version},"insertOrUpdateConfs":[${node}]}`;
  await writeFile(join(folder, 'versions', `${version}_upd.json`), update);
  await writeFile(join(folder, 'version.txt'), String(version));
}

async function run(service: Service) {
  const { json, status } = await service.execute({ app: 7, ruleId: 1 });
  expect(status).toBe(200);
  let record = json;
  await eventually(async () => {
    record = (await service.call(`${EXECUTIONS}/${json.mockId}`)).json;
    expect(record.state).toBe('succeeded');
  });
  return record;
}

async function runInVain(service: Service): Promise<{ mockId: string }> {
  const { json } = await service.execute({ app: 7, ruleId: 1 });
  expect(json).toMatchObject({ success: false, code: 'no-answer', mayHaveRun: true });
  await eventually(async () => expect(await stateOf(service)).toBe('timed-out'));
  return json;
}

/** The same on version 1. `sent`: the rules as they were known at the dispatch. */
async function runInVainOnFirst(service: Service) {
  const { mockId } = await runInVain(service);
  const sent = await rulesOf(service, mockId);
  expect(sent).toEqual({ released: 1, loaded: 1, digest: expect.stringMatching(/^[\w-]{22}$/) });
  return { mockId, sent };
}

async function untilAnsweredLate(service: Service, mockId: string): Promise<void> {
  await eventually(async () => {
    const { json } = await service.call(`${EXECUTIONS}/${mockId}`);
    expect(json.lateResult).toMatchObject({ success: true });
  });
}

const rulesOf = async (service: Service, mockId: string) => (await service.call(`${EXECUTIONS}/${mockId}`)).json.rules;

/** Of the newest run. */
const stateOf = async (service: Service) => (await service.call(`${EXECUTIONS}?app=7`)).json.items[0].state;

/** As a published client: it picks the request up, and says nothing of its rules once it may answer. */
const answersGo =
  (when?: Promise<void>): Behaviour =>
  async (request) => {
    await request.pickUp();
    await when;
    const { mockId } = request;
    await request.answer(
      `{"mockId":"${mockId}","success":true,"roam":{},"process":"[2:Spend:F:0]","ts":1,"executeAt":1}`,
    );
  };

async function treeOf(service: Service, mockId: string) {
  const { tree } = (await service.call(`${EXECUTIONS}/${mockId}?include=tree`)).json;
  expect(tree).not.toBeNull();
  return tree;
}

const minIn = (tree: { root: { values: { min: number } } }) => tree.root.values.min;

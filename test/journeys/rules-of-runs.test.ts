import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { onEachQueue } from '../support/on-each-queue.ts';
import { answers, createResponder } from '../support/responder.ts';
import type { Service } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

onEachQueue('the rules of a run', (start) => {
  it('are told with it, and its tree is the one it ran on after other rules were released', async () => {
    await using service = await start({});
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

  it('are not kept of an app in HISTORY_OFF, nor is their tree', async () => {
    await using service = await start({ settings: { HISTORY_OFF: '7' } });
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
  for (const name of ['bases', 'confs']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'bases/1.json'), `{"id":1,"app":7,"name":"gate","status":1,"confId":2}`);
  const field = JSON.stringify(JSON.stringify({ min }));
  await writeFile(join(folder, 'confs/2.json'), `{"id":2,"type":5,"confName":"a.Spend","confField":${field}}`);
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

async function treeOf(service: Service, mockId: string) {
  const { tree } = (await service.call(`${EXECUTIONS}/${mockId}?include=tree`)).json;
  expect(tree).not.toBeNull();
  return tree;
}

const minIn = (tree: { root: { values: { min: number } } }) => tree.root.values.min;

import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { digestOf } from '../../../src/client/rules/digest.ts';
import { openRuleSource } from '../../../src/client/rules/rule-source.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readTree } from '../../../src/worker/rules/tree/tree.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

/** A client tells the digest of what it ran, and a worker keeps trees by theirs: both have to make the same of the same files. */
let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const openClient = () =>
  openRuleSource({ directory: files.pathOf(7), registry: createRegistry({}), onProblems: () => {} });

async function ofWorker(ruleId: bigint | null, confId: bigint | null = null): Promise<string | null> {
  const rules = createRules({ sharedDir: files.sharedDir });
  const tree = await readTree(
    { app: 7, ruleId, confId, lane: null, address: null },
    { rules, metadataFor: async () => [] },
  );
  return tree.kind === 'tree' ? tree.digest : null;
}

test('every rule of the captured app, and every node inside and outside of its rule', async () => {
  await files.useFixture();
  const client = (await openClient()).current();
  const { rules, nodes } = client.released;
  const pairs = [...rules.values()].flatMap(({ id, confId }) => [[id, null] as const, [id, confId] as const]);
  const selections = [...pairs, ...[...nodes.keys()].map((id) => [null, id] as const)];
  expect(selections.length).toBeGreaterThan(50);
  // Its root has no status. Our client leaves such a node out, others run it: so these are not the same rules.
  expect(digestOf(client.released, { ruleId: 17n, confId: null })).not.toBe(await ofWorker(17n));
  for (const [ruleId, confId] of selections.filter(([id]) => id !== 17n)) {
    const digest = await ofWorker(ruleId, confId);
    expect([ruleId, confId, digestOf(client.released, { ruleId, confId })]).toEqual([ruleId, confId, digest]);
  }
});

test.each([
  ['a node of every sort', '"type":1,"sonIds":"2, 3,9,3","forwardId":2,"inverse":"true","errorState":"2","timeType":5'],
  ['a window without ends', '"type":0,"timeType":7,"name":""'],
  ['names in another case', '"TYPE":"1","SonIds":"2","ConfName":null'],
  [
    'a leaf with children and spaced values',
    '"type":5,"sonIds":"2,3","confName":"a.B","confField":"{ \\"a\\" : 1.50 }"',
  ],
  ['values that are no object', '"type":6,"confName":"B","confField":"[1]"'],
  ['values that are no JSON', '"type":7,"confName":"B","confField":"{"'],
])('%s', async (_, members) => {
  await files.rule(1, '"confId":1,"name":"gate","timeType":6,"end":9');
  await files.node(1, members);
  await files.node(2, '"type":5,"name":"two"');
  await files.write('{"id":3,"status":-1,"type":1,"sonIds":"2"}', 7, 'confs', '3.json');
  const digest = await ofWorker(1n);
  expect(digest).toMatch(/^[\w-]{22}$/);
  expect(digestOf((await openClient()).current().released, { ruleId: 1n, confId: null })).toBe(digest);
});

test('a node that an update brought, and one that it took away, are as in the files', async () => {
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.node(2, '"type":5,"confName":"B","confField":"{\\"min\\":100}"');
  await files.node(3, '"type":5,"confName":"B"');
  await files.write('1', 7, 'version.txt');
  const source = await openClient();
  const before = digestOf(source.current().released, { ruleId: 1n, confId: null });
  expect(before).toBe(await ofWorker(1n));

  const changed = '"type":5,"confName":"B","confField":"{\\"min\\":80}"';
  await files.node(2, changed);
  await files.write('{"id":3,"status":-1,"type":5}', 7, 'confs', '3.json');
  const update = `{"version":2,"insertOrUpdateConfs":[{"id":2,"status":1,${changed}}],"deleteConfIds":[3]}`;
  await files.write(update, 7, 'versions', '2_upd.json');
  await files.write('2', 7, 'version.txt');
  await source.refresh();
  const after = digestOf(source.current().released, { ruleId: 1n, confId: null });
  expect(after).toBe(await ofWorker(1n));
  expect(after).not.toBe(before);
});

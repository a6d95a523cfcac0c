import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { ruleVersionsSchema } from '../../../src/shared/contract/rules-and-clients.ts';
import { readAs } from '../../../src/shared/contract/wire.ts';
import { type RuleVersion, versionsFrom } from '../../../src/shared/reasoning/what-if/since.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readTree, readVersions } from '../../../src/worker/rules/tree/tree.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const leaf = (min: number) => `"type":5,"confName":"a.Spend","confField":"{\\"min\\":${min}}"`;

/** Rule 1 with the root 1 above the leaves 2 and 3, at version 1: a full load, so that no update file tells of it. */
async function begin(): Promise<void> {
  await files.rule(1, '"confId":1,"name":"gate"');
  await files.node(1, '"type":1,"sonIds":"2,3"');
  for (const id of [2, 3]) await files.node(id, leaf(100));
  await files.write('1', 7, 'version.txt');
}

type Change = { nodes?: Record<number, string>; deleted?: number[]; update?: boolean };
async function release(version: number, { nodes = {}, deleted = [], update = true }: Change): Promise<void> {
  for (const [id, members] of Object.entries(nodes)) await files.node(id, members);
  for (const id of deleted) await files.write(`{"id":${id},"status":-1}`, 7, 'confs', `${id}.json`);
  const insertOrUpdateConfs = Object.entries(nodes).map(([id, members]) =>
    JSON.parse(`{"id":${id},"status":1,${members}}`),
  );
  const content = JSON.stringify({ version, insertOrUpdateConfs, deleteConfIds: deleted });
  if (update) await files.write(content, 7, 'versions', `${version}_upd.json`);
  await files.write(String(version), 7, 'version.txt');
}

const asked = { app: 7, ruleId: 1n, confId: null, lane: null, address: null };
const sources = () => ({ rules: createRules({ sharedDir: files.sharedDir }), metadataFor: async () => [] });
const digestOfNow = async () => {
  const tree = await readTree(asked, sources());
  return tree.kind === 'tree' ? tree.digest : null;
};
/** A version and those before it that are known, as a caller of the service has them. */
const versionsOf = (newest: number, confId: bigint | null = null) =>
  versionsFrom(String(newest), async (version) => {
    const page = await readVersions({ ...asked, confId, version: BigInt(version) }, sources());
    return readAs(ruleVersionsSchema, stringifyExact(page));
  });
const read = async (version: number) => (await versionsOf(version).next()).value ?? null;
const minsOf = async (version: number) =>
  (await read(version))?.root?.children.map(({ id, state, values }) => [
    Number(id),
    state,
    /\d+/.exec(values)?.[0] ?? '',
  ]);

test('what updates touched is as the newest update of then says, the rest as its file says now', async () => {
  await begin();
  await release(2, { nodes: { 2: leaf(90) } });
  const second = await digestOfNow();
  await release(3, { nodes: { 2: leaf(80) } });
  const third = await digestOfNow();
  await release(4, { nodes: { 2: leaf(70) } });
  expect(await minsOf(2)).toEqual([
    [2, 'released', '90'],
    [3, 'released', '100'],
  ]);
  expect(await minsOf(3)).toEqual([
    [2, 'released', '80'],
    [3, 'released', '100'],
  ]);
  expect([(await read(2))?.digest, (await read(3))?.digest]).toEqual([second, third]);
});

test('what was touched since, and by nothing before, is not known', async () => {
  await begin();
  const first = await digestOfNow();
  await release(2, { nodes: { 2: leaf(90) } });
  expect((await minsOf(1))?.[0]).toEqual([2, 'unusable', '']);
  expect((await read(1))?.digest).not.toBe(first);
});

test('a release without an update file may have touched everything', async () => {
  await begin();
  await release(2, { nodes: { 2: leaf(90) } });
  await release(3, { nodes: { 2: leaf(80) }, update: false });
  expect(await minsOf(2)).toBeUndefined();
});

test('what a release without an update file may have changed is not known as an update before it says', async () => {
  await begin();
  await release(2, { nodes: { 2: leaf(90) } });
  await release(3, { nodes: { 2: leaf(80) }, update: false });
  await release(4, { nodes: { 2: leaf(70) } });
  expect(await minsOf(3)).toEqual([
    [2, 'unusable', ''],
    [3, 'released', '100'],
  ]);
});

test('a node that was deleted since is there, one that was deleted by then is not', async () => {
  await begin();
  await release(2, { nodes: { 3: leaf(90) } });
  const second = await digestOfNow();
  await release(3, { deleted: [3] });
  const third = await digestOfNow();
  await release(4, { nodes: { 3: leaf(60) } });
  expect(await minsOf(2)).toEqual([
    [2, 'released', '100'],
    [3, 'released', '90'],
  ]);
  expect([(await read(2))?.digest, (await read(3))?.digest]).toEqual([second, third]);
});

test('a version that is not released yet, and one of long ago, have no rules', async () => {
  await begin();
  expect(await read(2)).toBeNull();
  await release(200, {});
  expect(await read(99)).toBeNull();
});

test('versions that are told together are those that are told one by one', async () => {
  await begin();
  await release(2, { nodes: { 2: leaf(90), 3: leaf(90) } });
  await release(3, { nodes: { 1: '"type":1,"sonIds":"3"' } });
  await release(4, { nodes: { 1: '"type":1,"sonIds":"3,2,3"', 3: leaf(80) } });
  for (let version = 5; version <= 40; version++) await release(version, { nodes: { 2: leaf(version % 3) } });
  await release(41, { deleted: [3] });
  const together: RuleVersion[] = [];
  for await (const version of versionsOf(41)) together.push(version);
  expect(together.map(({ version }) => Number(version))).toEqual(Array.from({ length: 41 }, (_, at) => 41 - at));
  for (const version of together) expect(await read(Number(version.version))).toEqual(version);
});

test('a node that stands elsewhere in the rule on a version in between is told as it was before', async () => {
  await begin();
  await release(2, { nodes: { 1: '"type":1,"sonIds":"4,5"', 3: leaf(90), 4: '"type":1,"sonIds":"3"' } });
  await release(3, { nodes: { 4: '"type":1,"sonIds":"2"', 5: '"type":1,"sonIds":"3"' } });
  await release(4, { nodes: { 3: leaf(80), 4: '"type":1,"sonIds":"3"' } });
  const mins: string[] = [];
  for await (const { root } of versionsOf(4, 4n)) mins.push(...(root?.children ?? []).map(({ values }) => values));
  expect(mins).toEqual(['{"min":80}', '{"min":100}', '{"min":90}']);
});

test('what a release changes while versions are read is none of theirs', async () => {
  await begin();
  await release(2, { nodes: { 3: leaf(90) } });
  const { rules, ...others } = sources();
  let releases = 2;
  const olderRules = async (app: number) => {
    const rulesOf = await rules.olderRules(app);
    if (releases++ === 2) await release(3, { nodes: { 2: leaf(80) } });
    return rulesOf;
  };
  const { items } = await readVersions({ ...asked, version: 2n }, { rules: { ...rules, olderRules }, ...others });
  expect(items[0]?.nodes.find(({ id }) => id === 2n)?.state).toBe('unusable');
});

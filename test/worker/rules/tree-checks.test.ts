import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { checkTree } from '../../../src/worker/rules/tree/tree-checks.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;

beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

async function check(ruleId: bigint | null, confId: bigint | null = null, classes: string[] | null = null) {
  const rules = createRules({ sharedDir: files.sharedDir });
  const leafClasses = classes && new Set(classes);
  const { warnings, ...found } = await checkTree({ app: 7, ruleId, confId }, { rules, leafClasses });
  return { ...found, warnings: warnings() };
}

const codesOf = async (...args: Parameters<typeof check>) =>
  (await check(...args)).warnings.map(({ code, nodeId }) => (nodeId === undefined ? code : `${code} ${nodeId}`));

test('a sound rule has neither a cycle nor warnings', async () => {
  await files.useFixture();
  expect(await check(1n)).toMatchObject({ cycle: null, warnings: [] });
  expect(await check(1n, 12n)).toMatchObject({ cycle: null, warnings: [] });
  expect(await check(13n)).toMatchObject({ cycle: null, warnings: [] });
});

test('a cycle is found below a node, through forward conditions and in a node of itself', async () => {
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.node(2, '"type":1,"sonIds":"3"');
  await files.node(3, '"type":1,"forwardId":4');
  await files.node(4, '"type":1,"sonIds":"3"');
  await files.node(5, '"type":1,"sonIds":"5"');
  expect((await check(null, 1n)).cycle).toEqual([3n, 4n]);
  expect((await check(null, 5n)).cycle).toEqual([5n]);
});

test('a node used twice is not a cycle', async () => {
  await files.node(1, '"type":1,"sonIds":"2,2,3","forwardId":3');
  await files.node(2, '"type":1,"sonIds":"3"');
  await files.node(3, '"type":1');
  expect((await check(null, 1n)).cycle).toBeNull();
});

test('a cycle anywhere in the rule counts for a node inside it: the client searches from the root', async () => {
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.node(2, '"type":1,"sonIds":"1"');
  await files.node(3, '"type":1');
  expect((await check(1n, 3n)).cycle).toEqual([1n, 2n]);
  expect((await check(null, 3n)).cycle).toBeNull();
});

test('unknown rules and nodes are warnings, an app without rules is none', async () => {
  await files.useFixture();
  expect(await codesOf(99n)).toEqual(['unknown-rule']);
  expect(await codesOf(null, 999n)).toEqual(['unknown-node 999']);
  expect(await check(1n, 30n)).toMatchObject({
    cycle: null,
    warnings: [{ code: 'node-not-in-rule', params: { ruleId: '1', confId: '30' }, nodeId: '30' }],
  });
  await files.remove();
  expect(await check(1n)).toMatchObject({ cycle: null, warnings: [] });
});

test('missing and unusable nodes are named', async () => {
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.write('{', 7, 'confs', '3.json');
  expect(await codesOf(null, 1n)).toEqual(['missing-node 2', 'unusable-file 3']);
  expect(await codesOf(null, 3n)).toEqual(['unusable-file']);
});

test('a leaf class that the client has not registered is named once, at its first node', async () => {
  await files.useFixture();
  const known = ['com.sample.ScoreFlow', 'com.sample.UidFlow', 'com.sample.ProbeNone', 'com.sample.AmountResult'];
  expect(await codesOf(1n, null, known)).toEqual([
    'missing-leaf-class 14',
    'missing-leaf-class 23',
    'missing-leaf-class 24',
  ]);
  expect((await check(1n, null, known)).warnings[0]?.params).toMatchObject({ class: 'com.sample.AgeFlow' });
  expect(await codesOf(1n, 12n, known)).toEqual(['missing-leaf-class 14']);
  expect(await codesOf(1n, null, null)).toEqual([]);
});

test('a leaf without a class is named', async () => {
  await files.node(1, '"type":5');
  expect(await codesOf(null, 1n, [])).toEqual(['leaf-without-class 1']);
});

test('a tree that sharing makes endless is a warning, found without walking it', async () => {
  for (let id = 1; id < 60; id++) await files.node(id, `"type":1,"sonIds":"${id + 1},${id + 1}"`);
  await files.node(60, '"type":1');
  expect(await codesOf(null, 1n)).toEqual(['large-tree']);
});

test('warnings are bounded', async () => {
  await files.node(1, `"type":1,"sonIds":"${Array.from({ length: 500 }, (_, at) => at + 2).join(',')}"`);
  expect(await codesOf(null, 1n)).toHaveLength(50);
});

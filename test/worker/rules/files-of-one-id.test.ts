import { rm, utimes } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { digestOf } from '../../../src/client/rules/digest.ts';
import { openRuleSource } from '../../../src/client/rules/rule-source.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readTree } from '../../../src/worker/rules/tree/tree.ts';
import { checkTree } from '../../../src/worker/rules/tree/tree-checks.ts';
import { run } from '../../client/support/run-rule.ts';
import { smallLeaves } from '../../client/support/small-leaves.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

/** Workers, which show a rule, and our client, which runs it, go by the same file. */
let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
  await files.rule(1, '"confId":3');
  await files.node(3, '"type":5,"confName":"Yes"');
});
afterEach(() => files.remove());

const rule1 = { app: 7, ruleId: 1n, confId: null };
const copyOfNode = (name: string, id = 3) =>
  files.write(`{"id":${id},"status":1,"type":5,"confName":"No"}`, 7, 'confs', name);

async function client(strict = false) {
  const registry = createRegistry(smallLeaves);
  const source = await openRuleSource({ directory: files.pathOf(7), registry, strict, onProblems: () => {} });
  const rules = source.current();
  return { rules, problems: rules.problems, ran: await run(rules), digest: digestOf(rules.released, rule1) };
}

async function worker() {
  const rules = createRules({ sharedDir: files.sharedDir });
  const sources = { rules, metadataFor: async () => [] };
  const tree = await readTree({ ...rule1, lane: null, address: null }, sources);
  const list = await rules.listRules(7);
  const { warnings } = await checkTree(rule1, { rules, leafClasses: null });
  return { tree: tree.kind === 'tree' ? tree : null, kind: tree.kind, warnings, list };
}

test.each([
  ['a sync tool', '3.sync-conflict-20261127-101500-ABCDEFG.json'],
  ['a download', '3 (1).json'],
  ['a file manager', '3 - Copy.json'],
  ['an editor', '#3.json'],
  ['leading zeros', '03.json'],
  ['another case', '3.JSON'],
])('the copy of a node by %s does not count, and is named with the file and the id', async (_, name) => {
  await copyOfNode(name);
  const sentence = `confs/${name} says that it is node 3: only 3.json counts`;
  const { problems, ran, digest } = await client();
  expect({ problems, outcome: ran.outcome }).toEqual({ problems: [sentence], outcome: 'TRUE' });
  const { tree, warnings } = await worker();
  expect(tree).toMatchObject({ root: { className: 'Yes', problems: [{ message: sentence }] }, digest });
  const params = { problem: 'of-file', why: 'says-node', file: `confs/${name}`, id: '3' };
  expect(warnings()).toMatchObject([{ code: 'other-file', params, nodeId: '3' }]);
  expect((await client(true)).ran.outcome).toBe(
    `rule 1 is not run, because nothing may be in doubt (strict): ${sentence}`,
  );
});

test('a copy whose name differs by a character that is not seen is named so that it can be seen', async () => {
  await copyOfNode('3\u200b.json');
  const sentence = 'confs/3\\u200b.json says that it is node 3: only 3.json counts';
  expect((await client()).problems).toEqual([sentence]);
  expect((await worker()).tree).toMatchObject({ root: { problems: [{ message: sentence }] } });
});

test('hidden files and such that do not end in .json are nobody, and a file without an id is named alone', async () => {
  for (const name of ['.3.json', '._3.json', '3.json~', '3.json.bak', '3.json.tmp']) await copyOfNode(name);
  await files.write('{}', 7, 'confs', 'readme.json');
  expect((await client(true)).problems).toEqual(['confs/readme.json is not named by an id']);
  expect((await worker()).tree).toMatchObject({ root: { problems: [] } });
});

test('a node whose only file has another name is not there for either, which says so', async () => {
  await rm(files.pathOf(7, 'confs/3.json'));
  await copyOfNode('three.json');
  const reason = 'is not named by its id: it says so in confs/three.json';
  const { ran, digest } = await client();
  expect(ran.outcome).toBe(`rule 1 cannot run: its root 3 is missing (its file ${reason})`);
  expect((await worker()).tree).toMatchObject({
    root: { state: 'unusable', problems: [{ reason: 'other-name', message: reason }] },
    digest,
  });
});

test('a file that says another id than its name is no file of either', async () => {
  await copyOfNode('4.json');
  const reason = 'says that it is node 3: only 3.json counts';
  expect((await client()).problems).toEqual([`confs/4.json ${reason}`]);
  const rules = createRules({ sharedDir: files.sharedDir });
  expect(await rules.readNode(7, 4n)).toEqual({ kind: 'unusable', fault: { problem: 'says-node', id: '3' } });
});

test('so it is with rules, and of two files in two folders the newer one counts', async () => {
  await files.write('{"id":1,"status":1,"confId":99}', 7, 'bases', 'old/1 (1).json');
  await files.rule(1, '"confId":98', 'moved');
  await utimes(files.pathOf(7, 'bases/moved/1.json'), 1000, 1000);
  const sentences = [
    'bases/moved/1.json stands twice: the newer file counts',
    'bases/old/1 (1).json says that it is rule 1: only 1.json counts',
  ];
  const { problems, ran, digest } = await client();
  expect({ problems: problems.toSorted(), outcome: ran.outcome }).toEqual({ problems: sentences, outcome: 'TRUE' });
  const { tree, list, warnings } = await worker();
  expect(tree).toMatchObject({ rule: { confId: 3n, problems: sentences.map((message) => ({ message })) }, digest });
  expect(list).toMatchObject({
    skipped: expect.arrayContaining([
      { file: 'old/1 (1).json', fault: { problem: 'says-rule', id: '1' } },
      { file: 'moved/1.json', fault: { problem: 'stands-twice' } },
    ]),
  });
  expect(warnings().map(({ message }) => message)).toEqual(sentences.map((sentence) => `The file ${sentence}.`));
  expect((await client(true)).ran.outcome).toContain(sentences[0]);
});

test('files as old as each other, as cp -p makes them, count by their folder', async () => {
  await files.rule(1, '"confId":99', 'a');
  for (const path of ['bases/1.json', 'bases/a/1.json']) await utimes(files.pathOf(7, path), 1000, 1000);
  expect((await client()).ran.outcome).toBe('TRUE');
  expect((await worker()).tree).toMatchObject({ rule: { folder: '', confId: 3n } });
});

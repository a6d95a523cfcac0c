import { afterEach, beforeEach, expect, test } from 'vitest';
import { stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import type { Registration } from '../../../src/worker/rules/leaves/leaf-metadata.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import type { TreeNode } from '../../../src/worker/rules/tree/tree.ts';
import { readTree } from '../../../src/worker/rules/tree/tree.ts';
import { readerOf, registrationOf } from '../../support/registrations.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
let registrations: Registration[] = [];

beforeEach(async () => {
  files = await createRuleFiles();
  registrations = [];
});
afterEach(() => files.remove());

async function answerOf(ruleId: bigint | null, confId: bigint | null = null, address: string | null = null) {
  const rules = createRules({ sharedDir: files.sharedDir });
  return readTree({ app: 7, ruleId, confId, lane: null, address }, { rules, metadataFor: async () => registrations });
}

async function treeOf(...ids: Parameters<typeof answerOf>) {
  const answer = await answerOf(...ids);
  if (answer.kind !== 'tree') throw new Error(answer.kind);
  return answer;
}

/** A tree on one line: type and id, `~` inverse, `<forward>` before, `(children)` behind. */
function drawn(node: TreeNode | null): string {
  if (node === null) return '';
  const mark = node.circular ? '@' : node.state === 'released' ? '' : '?';
  const forward = node.forward ? `<${drawn(node.forward)}>` : '';
  const children = node.children.length > 0 ? `(${node.children.map(drawn).join(' ')})` : '';
  return `${forward}${node.inverse ? '~' : ''}${node.type}:${node.id}${mark}${children}`;
}

function find(node: TreeNode | null, id: bigint): TreeNode | undefined {
  if (node === null || node.id === id) return node ?? undefined;
  return [...(node.forward ? [node.forward] : []), ...node.children].map((child) => find(child, id)).find(Boolean);
}

test('rule 1 of the captured app is drawn as it was released', async () => {
  await files.useFixture();
  const tree = await treeOf(1n);
  expect(drawn(tree.root)).toBe(
    'And:10(LeafFlow:11 Any:12(LeafFlow:14 ~LeafFlow:15) <All:16(LeafFlow:17 LeafNone:18)>LeafResult:13 LeafFlow:20 ' +
      'None:21(LeafNone:23 LeafNone:24) True:22(<LeafFlow:26>LeafFlow:25))',
  );
  expect(tree).toMatchObject({
    rule: { name: 'rule1', folder: 'promo/spring' },
    version: 4n,
    missing: [],
    shared: [],
    cycle: null,
  });
});

test('parallel relations carry the names that traces use', async () => {
  await files.useFixture();
  expect(drawn((await treeOf(4n)).root)).toBe(
    'And:50(P-And:51(LeafFlow:61 LeafResult:62) ~P-Any:52(LeafFlow:61 LeafFlow:63) P-All:53(LeafFlow:61 LeafFlow:63) ' +
      'P-None:54(LeafNone:64 LeafFlow:63) P-True:55(LeafFlow:63))',
  );
});

test('a node carries its label, class, window, error state and values, numbers as written', async () => {
  await files.node(
    1,
    '"type":5,"name":"gate","confName":"com.sample.ScoreFlow","inverse":true,"errorState":2,"timeType":7,"start":1000,' +
      '"end":9223372036854775807,"confField":"{\\"key\\":\\"score\\",\\"a\\":1.0,\\"b\\":9007199254740993,\\"c\\":-0}"',
  );
  const { root } = await treeOf(null, 1n);
  expect(root).toMatchObject({
    id: 1n,
    state: 'released',
    type: 'LeafFlow',
    label: 'gate',
    className: 'com.sample.ScoreFlow',
    shortName: 'ScoreFlow',
    inverse: true,
    errorState: 2n,
    timeWindow: { type: 'between', start: 1000n, end: 9223372036854775807n },
  });
  expect(stringifyExact(root)).toContain('"values":{"key":"score","a":1.0,"b":9007199254740993,"c":-0}');
  expect(stringifyExact(root)).toContain('"end":9223372036854775807}');
});

test('each leaf names the keys it reads and writes, and the tree who reads and writes each key', async () => {
  await files.useFixture();
  registrations = [await registrationOf('python')];
  const tree = await treeOf(1n);
  expect(find(tree.root, 13n)?.keys).toEqual([
    { key: 'uid', direction: 'read', accessMethod: 'get', dynamic: false, nested: false, valueType: 'Object' },
    { key: 'gift_sent', direction: 'write', accessMethod: 'put', dynamic: false, nested: false, valueType: 'Object' },
    { key: 'count', direction: 'read_write', accessMethod: 'get', dynamic: false, nested: false, valueType: 'Object' },
  ]);
  const uses = Object.fromEntries(tree.keys.map(({ key, readers, writers }) => [key, { readers, writers }]));
  expect(uses).toMatchObject({
    uid: { readers: [17n, 13n], writers: [] },
    age: { readers: [14n, 20n, 26n, 25n], writers: [] },
    'vip.level': { readers: [15n, 24n], writers: [] },
    count: { readers: [13n], writers: [13n] },
    'probe.last': { readers: [], writers: [18n] },
  });
  expect(tree.keys.find(({ dynamic }) => dynamic)).toMatchObject({ key: `\${which}`, readers: [23n] });
  expect(tree.keys.find(({ key }) => key === 'vip.level')).toMatchObject({ nested: true, dynamic: false });
});

test('whose metadata explains the tree follows the wanted client', async () => {
  await files.node(1, '"type":5,"confName":"com.sample.AgeFlow"');
  registrations = [readerOf('a'), readerOf('b', { online: false })];
  expect(await treeOf(null, 1n, 'b')).toMatchObject({ keys: [{ key: 'a' }], fallback: true });
  expect(await treeOf(null, 1n, 'a')).toMatchObject({ keys: [{ key: 'a' }], fallback: false });
});

test('the sub-tree of a node inside a rule starts at that node', async () => {
  await files.useFixture();
  const tree = await treeOf(1n, 12n);
  expect(drawn(tree.root)).toBe('Any:12(LeafFlow:14 ~LeafFlow:15)');
  expect(tree.rule?.id).toBe(1n);
  expect(await answerOf(1n, 30n)).toEqual({ kind: 'not-in-rule' });
  expect(await answerOf(99n, 10n)).toEqual({ kind: 'unknown-rule' });
  expect(await answerOf(null, 999n)).toEqual({ kind: 'unknown-node' });
});

test('a rule without a root has a tree without nodes', async () => {
  await files.useFixture();
  expect(await treeOf(13n)).toMatchObject({ root: null, keys: [], shared: [] });
});

test('a shared node stands at each of its places', async () => {
  await files.node(1, '"type":1,"sonIds":"2,3,2"');
  await files.node(2, '"type":4,"sonIds":"4"');
  await files.node(3, '"type":1,"sonIds":"4"');
  await files.node(4, '"type":5,"confName":"a.B","forwardId":5');
  await files.node(5, '"type":5,"confName":"a.B"');
  const tree = await treeOf(null, 1n);
  const four = '<LeafFlow:5>LeafFlow:4';
  expect(drawn(tree.root)).toBe(`And:1(Any:2(${four}) And:3(${four}) Any:2(${four}))`);
  expect(tree.shared).toEqual([2n, 4n, 5n]);
});

test('a circle is marked where it closes and not followed', async () => {
  await files.useFixture();
  const tree = await treeOf(14n);
  expect(drawn(tree.root)).toBe('And:75(And:76(And:75@) LeafFlow:11)');
  expect(tree.cycle).toEqual([75n, 76n]);
});

test('a node that is missing or cannot be read stands in its place and says so', async () => {
  await files.node(1, '"type":1,"sonIds":"2,3","forwardId":4');
  await files.write('{"id":3,', 7, 'confs', '3.json');
  const tree = await treeOf(null, 1n);
  expect(drawn(tree.root)).toBe('<Unknown:4?>And:1(Unknown:2? Unknown:3?)');
  expect(tree.missing).toEqual([4n, 2n]);
  expect(find(tree.root, 3n)).toMatchObject({
    state: 'unusable',
    problems: [{ reason: 'not-json', message: 'is not JSON: it ends too early, after 8 characters' }],
  });
  expect(await answerOf(null, 3n)).toMatchObject({
    kind: 'unusable',
    of: { confId: '3' },
    fault: { problem: 'not-json' },
  });
});

test('twenty thousand places are drawn, one more is refused', async () => {
  await files.node(1, `"type":1,"sonIds":"${Array(9999).fill(2).join(',')}","forwardId":3`);
  await files.node(2, '"type":1');
  await files.node(3, `"type":1,"sonIds":"${Array(9999).fill(2).join(',')}"`);
  expect((await answerOf(null, 1n)).kind).toBe('tree');
  await files.node(3, `"type":1,"sonIds":"${Array(10_000).fill(2).join(',')}"`);
  expect((await answerOf(null, 1n)).kind).toBe('too-large');
});

test('a few large nodes in many places are refused before they fill the memory', async () => {
  await files.node(1, `"type":1,"sonIds":"${Array(1000).fill(2).join(',')}"`);
  await files.node(2, `"type":5,"confName":"a.B","confField":"{\\"text\\":\\"${'x'.repeat(100_000)}\\"}"`);
  expect((await answerOf(null, 1n)).kind).toBe('too-large');
});

test('a tree deeper than JSON readers go is refused', async () => {
  for (let id = 1; id < 90; id++) await files.node(id, `"type":1,"sonIds":"${id + 1}"`);
  await files.node(90, '"type":1');
  expect((await answerOf(null, 1n)).kind).toBe('tree');
  await files.node(90, '"type":1,"sonIds":"91"');
  expect((await answerOf(null, 1n)).kind).toBe('too-large');
});

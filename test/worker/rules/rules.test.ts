import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { causeOf } from '../../../src/shared/reasons/causes.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
let rules: ReturnType<typeof createRules>;
let clock = 0;

beforeEach(async () => {
  files = await createRuleFiles();
  clock = 0;
  rules = createRules({ sharedDir: files.sharedDir, now: () => clock });
});
afterEach(() => files.remove());

const nodeOf = async (id: bigint) => {
  const reading = await rules.readNode(7, id);
  return reading.kind === 'found' ? reading.value : reading;
};

test('the captured app lists its rules by number, with the folder each stands in', async () => {
  await files.useFixture();
  const list = await rules.listRules(7);
  if (list.kind !== 'rules') throw new Error(list.kind);
  expect(list.rules.map(({ id }) => Number(id))).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
  ]);
  expect(list.rules[0]).toMatchObject({
    name: 'rule1',
    confId: 10n,
    folder: 'promo/spring',
    scenes: ['recharge', 'consume'],
  });
  expect(list.rules[8]?.timeWindow).toEqual({ type: 'before', start: null, end: 1000n });
  expect(list.rules[12]?.confId).toBeNull();
  expect(list).toMatchObject({ skipped: [], version: 4n });
});

test('apps are the numbered folders that hold rules or nodes', async () => {
  await mkdir(files.pathOf(12, 'confs'), { recursive: true });
  await mkdir(files.pathOf(3, 'bases'), { recursive: true });
  await mkdir(files.pathOf(4, 'versions'), { recursive: true });
  await mkdir(files.pathOf('mock', 7), { recursive: true });
  await mkdir(files.pathOf('007', 'bases'), { recursive: true });
  await symlink(files.pathOf(3), files.pathOf(5));
  expect(await rules.listApps()).toEqual([3, 12]);
});

test('a shared directory that is not there has no apps and no rules', async () => {
  await files.remove();
  expect(await rules.listApps()).toEqual([]);
  expect(await rules.listRules(7)).toEqual({ kind: 'no-rules' });
  expect(await rules.readVersion(7)).toBeNull();
});

test('ids beyond 2^53 keep every digit, in names, members and children', async () => {
  await files.rule('9007199254740993', '"confId":9223372036854775807');
  await files.node(
    '9223372036854775807',
    '"type":1,"sonIds":"9007199254740995,9007199254740997","forwardId":9007199254740999',
  );
  const rule = await rules.readRule(7, 9007199254740993n);
  expect(rule).toMatchObject({ kind: 'found', value: { id: 9007199254740993n, confId: 9223372036854775807n } });
  expect(await nodeOf(9223372036854775807n)).toMatchObject({
    sonIds: [9007199254740995n, 9007199254740997n],
    forwardId: 9007199254740999n,
  });
  expect((await rules.readRule(7, 9007199254740992n)).kind).toBe('absent');
});

test('a number that does not fit 64 bits makes the file unusable instead of another number', async () => {
  await files.rule(1, '"confId":9223372036854775808');
  await files.write('{"type":1}', 7, 'confs', '9223372036854775808.json');
  expect(await rules.readRule(7, 1n)).toEqual({
    kind: 'unusable',
    fault: { problem: 'member-no-long', member: 'confId', found: '9223372036854775808' },
  });
  expect(await rules.listRules(7)).toMatchObject({ rules: [], skipped: [{ file: '1.json' }] });
});

test('a rule is found again after its file moved to another folder', async () => {
  await files.rule(1, '"name":"a","confId":10', 'old/deep');
  expect(await rules.readRule(7, 1n)).toMatchObject({ value: { folder: 'old/deep' } });
  await mkdir(files.pathOf(7, 'bases', 'new'));
  await rename(files.pathOf(7, 'bases/old/deep/1.json'), files.pathOf(7, 'bases/new/1.json'));
  expect(await rules.readRule(7, 1n)).toMatchObject({ value: { folder: 'new' } });
  await rename(files.pathOf(7, 'bases/new'), files.pathOf(7, 'bases/newer'));
  expect(await rules.readRule(7, 1n)).toMatchObject({ value: { folder: 'newer' } });
});

test('of two files of one rule the newer counts, and the older is named as skipped', async () => {
  await files.rule(1, '"confId":10', 'a');
  await files.rule(1, '"confId":11', 'b');
  await utimes(files.pathOf(7, 'bases/a/1.json'), 1000, 1000);
  expect(await rules.readRule(7, 1n)).toMatchObject({ value: { confId: 11n, folder: 'b' } });
  expect(await rules.listRules(7)).toMatchObject({
    rules: [{ folder: 'b' }],
    skipped: [{ file: 'a/1.json', fault: { problem: 'stands-twice' } }],
  });
  await files.write('{"id":1,', 7, 'bases/b/1.json');
  expect(await rules.readRule(7, 1n)).toMatchObject({ value: { confId: 10n, folder: 'a' } });
});

test('an edit of the same length within the same clock tick is seen', async () => {
  const path = files.pathOf(7, 'confs/1.json');
  await files.node(1, '"type":1,"name":"aaa"');
  const { atime, mtime } = await stat(path);
  expect(await nodeOf(1n)).toMatchObject({ name: 'aaa' });
  for (const name of ['bbb', 'ccc']) {
    await writeFile(path, `{"id":1,"app":7,"status":1,"type":1,"name":"${name}"}`);
    await utimes(path, atime, mtime);
    expect(await nodeOf(1n)).toMatchObject({ name });
  }
});

test('what was read once is the same object until its file changes', async () => {
  await files.node(1, '"type":1');
  await rules.readNode(7, 1n);
  clock = 2500;
  const first = await rules.readNode(7, 1n);
  expect(await rules.readNode(7, 1n)).toBe(first);
  await files.node(1, '"type":2');
  expect(await nodeOf(1n)).toMatchObject({ type: { name: 'True' } });
  await rm(files.pathOf(7, 'confs/1.json'));
  expect(await rules.readNode(7, 1n)).toEqual({ kind: 'absent' });
});

test('links, folders, pipes and foreign names are passed over, each with its reason', async () => {
  await files.rule(1, '"confId":10');
  await files.write('{"id":99}', 'outside', '9.json');
  await mkdir(files.pathOf(7, 'bases/2.json'));
  await promisify(execFile)('mkfifo', [files.pathOf(7, 'bases/3.json')]);
  await symlink(files.pathOf('outside/9.json'), files.pathOf(7, 'bases/4.json'));
  await symlink(files.pathOf('outside'), files.pathOf(7, 'bases/folder'));
  await symlink('..', files.pathOf(7, 'bases/up'));
  await files.rule(5, '"confId":10', '_archive');
  await files.rule(6, '"confId":10', '.git');
  await files.write('{}', 7, 'bases', 'readme.json');
  await files.write('{}', 7, 'bases', '007.json');
  await files.write('half', 7, 'bases', '8.json.tmp');
  const list = await rules.listRules(7);
  if (list.kind !== 'rules') throw new Error(list.kind);
  expect(list.rules.map(({ id }) => id)).toEqual([1n]);
  expect(Object.fromEntries(list.skipped.map(({ file, fault }) => [file, causeOf(fault)]))).toEqual({
    '2.json': 'is not a regular file',
    '3.json': 'is not a regular file',
    '4.json': "is a link that leads out of its app's folder",
    folder: 'is a link',
    up: 'is a link',
    'readme.json': 'is not named by an id',
    '007.json': 'is not named by an id',
  });
  expect(await rules.readRule(7, 9n)).toEqual({ kind: 'absent' });
  expect(await rules.readRule(7, 3n)).toEqual({ kind: 'absent' });
});

test('nodes are never read through a link, at any level', async () => {
  await files.write('{"id":1,"type":1,"name":"outside"}', 'outside', 'confs', '1.json');
  await mkdir(files.pathOf(7, 'confs'), { recursive: true });
  await symlink(files.pathOf('outside/confs/1.json'), files.pathOf(7, 'confs/1.json'));
  await promisify(execFile)('mkfifo', [files.pathOf(7, 'confs/2.json')]);
  await mkdir(files.pathOf(7, 'confs/3.json'));
  expect(await rules.readNode(7, 1n)).toEqual({
    kind: 'unusable',
    fault: { problem: 'link-outwards' },
  });
  expect(await rules.readNode(7, 2n)).toEqual({ kind: 'unusable', fault: { problem: 'no-file' } });
  expect(await rules.readNode(7, 3n)).toEqual({ kind: 'unusable', fault: { problem: 'directory' } });
  await symlink(files.pathOf('outside'), files.pathOf(8));
  expect(await rules.readNode(8, 1n)).toEqual({ kind: 'absent' });
  await mkdir(files.pathOf(9));
  await symlink(files.pathOf('outside/confs'), files.pathOf(9, 'confs'));
  await symlink(files.pathOf('outside/confs'), files.pathOf(9, 'bases'));
  expect(await rules.readNode(9, 1n)).toEqual({ kind: 'unusable', fault: { problem: 'behind-confs', fault: 'link' } });
  expect(await rules.listRules(9)).toMatchObject({
    rules: [],
    skipped: [{ file: 'bases', fault: { problem: 'link' } }],
  });
});

test.each([
  ['that is empty', '', 'is not JSON: it ends too early, after 0 characters'],
  ['cut off', '{"id":1,"type":1', 'is not JSON: it ends too early, after 16 characters'],
  ['with a comma too many', '{"id":1,}', /^is not JSON: expected a key/],
  ['that is null', 'null', 'is not a JSON object'],
  ['that is an array', '[1]', 'is not a JSON object'],
  ['of another node', '{"id":2,"type":1}', 'says that it is node 2: only 2.json counts'],
  [
    'with a word for a type',
    '{"id":1,"type":"one"}',
    'cannot be read: type must be an integer of at most 64 bits, not "one"',
  ],
  [
    'with a list for a type',
    '{"id":1,"type":[1]}',
    'cannot be read: type must be an integer of at most 64 bits, not [1]',
  ],
  ['with children in an array', '{"id":1,"type":1,"sonIds":[2]}', 'cannot be read: sonIds must be a string, not [2]'],
  [
    'with an object as confField',
    '{"id":1,"type":5,"confField":{"key":1}}',
    'cannot be read: confField must be a string, not {"key":1}',
  ],
  ['with a negative forwardId', '{"id":1,"type":1,"forwardId":-2}', 'cannot be read: forwardId must not be negative'],
  [
    'with a word for inverse',
    '{"id":1,"type":1,"inverse":"maybe"}',
    'cannot be read: inverse must be true or false, not "maybe"',
  ],
  ['nested 300 deep', `{"id":1,"type":1,"x":${'['.repeat(300)}${']'.repeat(300)}}`, /^is not JSON: nested deeper/],
  ['with 20,001 children', `{"id":1,"type":1,"sonIds":"${'2,'.repeat(20_000)}2"}`, 'has more than 10000 children'],
  ['of 4 MiB and more', `{"id":1,"type":1,"x":"${'x'.repeat(4 * 1024 * 1024)}"}`, 'is larger than 4194304 bytes'],
])('a node file %s is unusable and says why', async (_, text, reason) => {
  await files.write(text, 7, 'confs', '1.json');
  const read = await rules.readNode(7, 1n);
  expect(read.kind === 'unusable' ? causeOf(read.fault) : read.kind).toMatch(reason);
});

test('bytes that are not UTF-8 make a file unusable', async () => {
  await mkdir(files.pathOf(7, 'confs'), { recursive: true });
  await writeFile(files.pathOf(7, 'confs/1.json'), Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
  expect(await rules.readNode(7, 1n)).toEqual({
    kind: 'unusable',
    fault: { problem: 'not-utf-8', byte: 3, line: 1, value: '0xff' },
  });
});

test('a node that can be drawn though something is wrong with it names its problems', async () => {
  await files.node(1, '"type":1,"sonIds":"2, 3,x,,-4,5","forwardId":null,"start":null');
  expect(await nodeOf(1n)).toMatchObject({
    sonIds: [2n, 3n, 5n],
    forwardId: null,
    problems: [{ problem: 'children-no-ids', found: '"x", "", "-4"' }, { problem: 'children-spaced' }],
  });
  await files.node(2, '"type":5,"confName":"a.B","sonIds":"1","confField":"{\\"key\\": "');
  expect(await nodeOf(2n)).toMatchObject({
    sonIds: [],
    values: {},
    problems: [{ problem: 'leaf-with-children' }, { problem: 'settings-not-json', fault: 'json-early', length: 8 }],
  });
  await files.node(3, '"confField":"[1]"');
  expect(await nodeOf(3n)).toMatchObject({ problems: [{ problem: 'no-type' }, { problem: 'settings-no-object' }] });
  await files.node(4, '"type":77');
  expect(await nodeOf(4n)).toMatchObject({
    type: { name: 'Unknown' },
    problems: [{ problem: 'unknown-type', type: '77' }],
  });
});

test('a rule file that cannot be read right now is not the same as no rule', async () => {
  await files.write('{"id":1,"confId', 7, 'bases', '1.json');
  expect(await rules.readRule(7, 1n)).toMatchObject({ kind: 'unusable' });
  expect(await rules.readGraph({ app: 7, ruleId: 1n, confId: null })).toEqual({
    kind: 'unusable',
    of: { ruleId: '1' },
    fault: { problem: 'not-json', fault: 'json-early', length: 15 },
  });
});

test('what a selection cannot reach is told apart', async () => {
  await files.useFixture();
  const graph = async (ruleId: bigint | null, confId: bigint | null, app = 7) =>
    (await rules.readGraph({ app, ruleId, confId })).kind;
  expect(await graph(1n, null)).toBe('graph');
  expect(await graph(null, 10n)).toBe('graph');
  expect(await graph(1n, 16n)).toBe('graph');
  expect(await graph(13n, null)).toBe('graph');
  expect(await graph(99n, null)).toBe('unknown-rule');
  expect(await graph(99n, 16n)).toBe('unknown-rule');
  expect(await graph(null, 999n)).toBe('unknown-node');
  expect(await graph(1n, 999n)).toBe('unknown-node');
  expect(await graph(1n, 30n)).toBe('not-in-rule');
  expect(await graph(13n, 30n)).toBe('not-in-rule');
  expect(await graph(1n, null, 8)).toBe('no-rules');
});

test('an app with empty folders has no rules, so no id of it is unknown', async () => {
  await mkdir(files.pathOf(7, 'bases/folder'), { recursive: true });
  await mkdir(files.pathOf(7, 'confs'), { recursive: true });
  expect(await rules.readGraph({ app: 7, ruleId: 1n, confId: null })).toEqual({ kind: 'no-rules' });
  expect(await rules.readGraph({ app: 7, ruleId: null, confId: 1n })).toEqual({ kind: 'no-rules' });
});

test('callers of one moment share a read, and one who comes after an edit never gets an older answer', async () => {
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"name":"before"');
  const selection = { app: 7, ruleId: 1n, confId: null };
  const early = rules.readGraph(selection);
  await files.node(1, '"type":1,"name":"after"');
  const late = await Promise.all([rules.readGraph(selection), rules.readGraph(selection)]);
  expect((await early).kind).toBe('graph');
  for (const graph of late) {
    expect(graph.kind === 'graph' && graph.nodes.get(1n)).toMatchObject({ value: { name: 'after' } });
  }
});

test('five thousand rules are listed without running out of file descriptors', async () => {
  await mkdir(files.pathOf(7, 'bases'), { recursive: true });
  for (let id = 1; id <= 5000; id++) writeFileSync(files.pathOf(7, 'bases', `${id}.json`), `{"id":${id},"confId":1}`);
  expect(await rules.listRules(7)).toMatchObject({ rules: { length: 5000 }, skipped: [] });
});

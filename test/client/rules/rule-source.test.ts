import { mkdir, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { openRuleSource } from '../../../src/client/rules/rule-source.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { run } from '../support/run-rule.ts';
import { sampleLeaves } from '../support/sample-leaves.ts';
import { smallLeaves } from '../support/small-leaves.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
let problems: string[];
beforeEach(async () => {
  files = await createRuleFiles();
  problems = [];
});
afterEach(() => files.remove());

const open = (leaves = smallLeaves) =>
  openRuleSource({
    directory: files.pathOf(7),
    registry: createRegistry(leaves),
    onProblems: (found) => {
      problems = [...found];
    },
  });
const version = (number: number) => files.write(`${number}\n`, 7, 'version.txt');
const update = (number: number, content: unknown) =>
  files.write(typeof content === 'string' ? content : JSON.stringify(content), 7, 'versions', `${number}_upd.json`);
const yes = '"type":5,"confName":"Yes"';
const no = '"type":5,"confName":"No"';

test('the captured rules of app 7 run and come to the process texts that were captured from the Java SDK', async () => {
  await files.useFixture();
  const rules = (await open(sampleLeaves)).current();
  const spring = '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age"}';
  expect(await run(rules, { ruleId: 1, input: spring })).toMatchObject({
    process:
      '[11:ScoreFlow:T:0][14:AgeFlow:T:0][12:Any:T:0][17:UidFlow:T:0][18:ProbeNone:N:0][16:All:T:0][13:AmountResult:T:0][20:AgeFlow:O][23:DerivedNone:N:0][24:UnionNone:N:0][21:None:N:0][26:AgeFlow:F:0][25:AgeFlow:R-F][22:True:T:0][10:And:T:0]',
    data: '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age","probe":{"last":null},"gift_sent":{"uid":9007199254740993,"amount":5},"count":1,"derived":20,"union":2}',
  });
  // An alias stands under the name of its class.
  expect(await run(rules, { ruleId: 10, input: '{"age":20}' })).toMatchObject({ process: '[74:AgeFlow:T:0]' });
  // The rule is outside its time window: nothing runs, and that is no failure.
  expect(await run(rules, { ruleId: 9 })).toMatchObject({ outcome: null, process: '' });
  expect(await run(rules, { ruleId: 9, ts: 1000 })).toMatchObject({ outcome: 'NONE' });
  // Without a root there is nothing to run; an offline rule runs, a deleted one does not.
  expect(await run(rules, { ruleId: 13 })).toMatchObject({ outcome: null, process: '' });
  expect(await run(rules, { ruleId: 11 })).toMatchObject({ outcome: 'NONE' });
  expect(await run(rules, { ruleId: 12 })).toMatchObject({ outcome: 'there is no rule 12' });
});

test('what is wrong with the files is said, and the rest runs', async () => {
  await files.rule(1, '"confId":1');
  await files.rule(2, '"confId":77');
  await files.rule(3, '"timeType":1');
  await files.write('{"id":4,"confId":1}', 7, 'bases', '4.json');
  await files.write('{"id":', 7, 'bases', '5.json');
  await files.node(1, '"type":1,"sonIds":"2, 3,x,4,5,6"');
  await files.node(2, yes);
  await files.node(3, '"type":13');
  await files.node(4, '"type":5,"confName":"Nobody"');
  await files.node(5, '"type":5,"confName":"Later","confField":"{\\"ms\\":\\"soon\\"}"');
  await files.node(6, '"type":5,"confName":"Boom","errorState":9,"confField":"{\\"txt\\":1}","sonIds":"2"');
  await files.write('{"id":8,"status":1}', 7, 'confs', '8.json');
  const source = await open();
  expect(problems.sort()).toEqual([
    'bases/4.json has no status: Java and Node clients take it as not released',
    'bases/5.json is not JSON: it ends too early, after 6 characters',
    'node 1: its child 3 is left out: type 13 is not known',
    'node 1: its child 4 is left out: the class Nobody is not registered',
    'node 1: its child 5 is left out: confField: ms must be a number',
    'node 1: sonIds has spaces: one client does not start with them',
    'node 1: sonIds: not an id: "x"',
    'node 3 is left out: type 13 is not known',
    'node 4 is left out: the class Nobody is not registered',
    'node 5 is left out: confField: ms must be a number',
    'node 6: Boom has no field txt',
    'node 6: a leaf has no children: sonIds is ignored',
    'node 6: errorState 9 is not known',
    'node 8 is left out: type is missing',
    'rule 2 cannot run: its root 77 is missing',
    'rule 3 has no root (confId): running it does nothing',
  ]);
  expect(await run(source.current(), { ruleId: 1 })).toMatchObject({ outcome: 'kaboom' });
});

test.each([
  [
    'Latin-1',
    Buffer.from('{"id":2,"status":1,\n"type":5,"name":"K\xf6ln"}', 'latin1'),
    'is not valid UTF-8: byte 19 of line 2 is 0xf6',
  ],
  ['UTF-16', Buffer.from('\ufeff{"id":2,"type":5}', 'utf16le'), 'is UTF-16, not UTF-8'],
  [
    'UTF-8 with a mark',
    Buffer.from('\ufeff{"id":2,"type":5}'),
    'starts with a byte order mark; UTF-8 has to be without one',
  ],
])('a file in %s is not used, and said to be', async (_, bytes, reason) => {
  await files.rule(1, '"confId":2');
  await mkdir(files.pathOf(7, 'confs'));
  await writeFile(files.pathOf(7, 'confs/2.json'), bytes);
  const source = await open();
  expect(problems).toContain(`confs/2.json ${reason}`);
  expect(await run(source.current())).toMatchObject({
    outcome: `rule 1 cannot run: its root 2 is missing (its file ${reason})`,
  });
});

test('an app without any files has no rules, and no problems', async () => {
  const source = await open();
  await source.refresh();
  expect(problems).toEqual([]);
  expect(await run(source.current(), { ruleId: 1 })).toMatchObject({ outcome: 'there is no rule 1' });
});

test('rules are found in any folder below bases, by the name of the file', async () => {
  await files.node(1, yes);
  await files.rule(1, '"confId":1', 'promo/spring');
  await files.write('{"id":6,"confId":1,"status":1}', 7, 'bases', 'called-otherwise.json');
  const rules = (await open()).current();
  expect(await run(rules, { ruleId: 1 })).toMatchObject({ outcome: 'TRUE' });
  expect(await run(rules, { ruleId: 6 })).toMatchObject({
    outcome: 'there is no rule 6 (its file is not named by its id: it says so in bases/called-otherwise.json)',
  });
});

test('the values a node configures reach its leaf, scalars in any spelling', async () => {
  await files.node(1, '"type":5,"confName":"com.sample.AgeFlow","confField":"{\\"min\\":\\"18\\"}"');
  await files.node(2, '"type":7,"confName":"com.sample.ProbeNone","confField":"{\\"key\\":9007199254740993}"');
  const rules = (await open(sampleLeaves)).current();
  expect(await run(rules, { confId: 1, input: '{"age":18}' })).toMatchObject({ outcome: 'TRUE' });
  expect(await run(rules, { confId: 2, input: '{"pre_9007199254740993":1}' })).toMatchObject({
    data: '{"pre_9007199254740993":1,"probe":{"last":1}}',
  });
});

test('a new version is followed by its update, whatever became of the other files', async () => {
  await files.node(1, yes);
  await files.rule(1, '"confId":1');
  await version(3);
  const source = await open();
  await update(4, { version: 4, insertOrUpdateConfs: [{ id: 1, type: 5, status: 1, confName: 'No' }] });
  await version(4);
  await source.refresh();
  expect(source.current().version).toBe(4n);
  expect(await run(source.current())).toMatchObject({ outcome: 'FALSE' });

  await update(5, { version: 5, insertOrUpdateBases: [{ id: 2, confId: 1, status: 1 }], deleteBaseIds: [1] });
  await update(6, {
    version: 6,
    deleteConfIds: [1],
    insertOrUpdateConfs: [{ id: 9, type: 5, status: 1, confName: 'Yes' }],
  });
  await version(6);
  await source.refresh();
  expect(await run(source.current())).toMatchObject({ outcome: 'there is no rule 1' });
  expect(await run(source.current(), { ruleId: 2 })).toMatchObject({
    outcome: 'rule 2 cannot run: its root 1 is missing',
  });
  expect(await run(source.current(), { confId: 9 })).toMatchObject({ outcome: 'TRUE' });
});

test('the newest update is waited for a little, because its number is written first', async () => {
  await files.node(1, yes);
  await version(1);
  const source = await open();
  await files.node(1, no);
  await version(2);
  await source.refresh();
  await source.refresh();
  expect(source.current().version).toBe(1n);
  await source.refresh();
  expect(source.current().version).toBe(2n);
  expect(await run(source.current(), { confId: 1 })).toMatchObject({ outcome: 'FALSE' });
});

test.each([
  ['is missing', undefined],
  ['is not JSON', '{"version":'],
  ['is of another version', '{"version":3,"insertOrUpdateConfs":[]}'],
  ['makes no sense', '{"insertOrUpdateConfs":[{"type":5}]}'],
])('everything is read again when an update in between %s', async (_title, content) => {
  await files.node(1, yes);
  await version(1);
  const source = await open();
  await files.node(1, no);
  if (content !== undefined) await update(2, content);
  await update(3, { version: 3, insertOrUpdateConfs: [{ id: 1, type: 5, status: 1, confName: 'Yes' }] });
  await version(3);
  await source.refresh();
  expect(source.current().version).toBe(3n);
  expect(await run(source.current(), { confId: 1 })).toMatchObject({ outcome: 'FALSE' });
});

test('everything is read again when the version goes back', async () => {
  await version(9);
  const source = await open();
  await files.node(1, yes);
  await version(2);
  await source.refresh();
  expect(source.current().version).toBe(2n);
  expect(await run(source.current(), { confId: 1 })).toMatchObject({ outcome: 'TRUE' });
});

test('a leaf that did not change keeps its instance from one version to the next', async () => {
  let made = 0;
  const Counted = class {
    key = 'a';
    afterPropertiesSet(): void {
      made++;
    }
    doNone(): void {}
  };
  await files.node(1, '"type":7,"confName":"Counted"');
  await files.node(2, '"type":7,"confName":"Counted","confField":"{\\"key\\":\\"b\\"}"');
  await version(1);
  const source = await open({ Counted });
  expect(made).toBe(2);
  await update(2, {
    insertOrUpdateConfs: [{ id: 2, type: 7, status: 1, confName: 'Counted', confField: '{"key":"c"}' }],
  });
  await version(2);
  await source.refresh();
  expect(made).toBe(3);
  await files.node(2, '"type":7,"confName":"Counted","confField":"{\\"key\\":\\"c\\"}"');
  await source.reload();
  expect(made).toBe(3);
});

test('a run keeps the rules it began with', async () => {
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.node(2, '"type":5,"confName":"Later","confField":"{\\"ms\\":50}"');
  await files.node(3, no);
  await version(1);
  const source = await open();
  const running = run(source.current(), { confId: 1 });
  await update(2, { insertOrUpdateConfs: [{ id: 3, type: 5, status: 1, confName: 'Yes' }] });
  await version(2);
  await source.refresh();
  expect(await running).toMatchObject({ outcome: 'FALSE' });
  expect(await run(source.current(), { confId: 1 })).toMatchObject({ outcome: 'TRUE' });
});

import { symlink } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readEditedRoot } from '../../../src/worker/rules/tree/tree.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"2"');
  await files.node(2, '"type":5,"confName":"a.B","confField":"{\\"min\\":100}"');
});
afterEach(() => files.remove());

const edit = (id: number, members: string) => files.write(`{${members}}`, 7, 'updates', 1, `${id}.json`);
const edited = (ruleId = 1n) => {
  const selection = { app: 7, ruleId, confId: null, lane: null, address: null };
  return readEditedRoot(selection, { rules: createRules({ sharedDir: files.sharedDir }), metadataFor: async () => [] });
};

test('a rule without edits has none', async () => {
  expect(await edited()).toBeNull();
});

test('an edit stands in the place of the released node; its own number does not count', async () => {
  await edit(2, '"id":900,"iceId":1,"confId":2,"type":5,"confName":"a.C"');
  expect((await edited())?.children[0]).toMatchObject({ id: 2n, className: 'a.C' });
});

test('an edit may bring a node that is not released at all', async () => {
  await edit(1, '"confId":1,"type":1,"sonIds":"2,3"');
  await edit(3, '"confId":3,"type":6,"confName":"a.New"');
  expect((await edited())?.children.map(({ id, state }) => [id, state])).toEqual([
    [2n, 'released'],
    [3n, 'released'],
  ]);
});

test('what cannot be read is passed over, and a link is not followed', async () => {
  await edit(2, 'no JSON');
  expect((await edited())?.children[0]).toMatchObject({ id: 2n, className: 'a.B' });
  await files.rule(2, '"confId":1');
  await symlink(files.pathOf(7, 'updates', 1), files.pathOf(7, 'updates', 2));
  expect(await edited(2n)).toBeNull();
});

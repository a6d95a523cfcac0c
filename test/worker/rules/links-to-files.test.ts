import { mkdir, rename, symlink } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { digestOf } from '../../../src/client/rules/digest.ts';
import { openRuleSource } from '../../../src/client/rules/rule-source.ts';
import { createProcess } from '../../../src/shared/ports/process.ts';
import { causeOf, fault } from '../../../src/shared/reasons/causes.ts';
import { filesOf } from '../../../src/worker/files/ports/files.ts';
import { nodeFiles } from '../../../src/worker/files/ports/node-files.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readTree } from '../../../src/worker/rules/tree/tree.ts';
import { run } from '../../client/support/run-rule.ts';
import { smallLeaves } from '../../client/support/small-leaves.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const leaf = (confName: string) => `{"id":1,"status":1,"type":5,"confName":"${confName}"}`;
const open = () =>
  openRuleSource({ directory: files.pathOf(7), registry: createRegistry(smallLeaves), onProblems: () => {} });
const rules = () => createRules({ sharedDir: files.sharedDir });

/** Puts files in place as Kubernetes mounts a ConfigMap: links to links, of which one is replaced with each change. */
async function mountConfigMap(folder: string, version: string, content: Record<string, string>): Promise<void> {
  const at = (name: string) => files.pathOf(7, folder, name);
  for (const [name, text] of Object.entries(content)) await files.write(text, 7, folder, version, name);
  await symlink(version, at('..data_tmp'));
  await rename(at('..data_tmp'), at('..data'));
  for (const name of Object.keys(content)) await symlink(`..data/${name}`, at(name)).catch(() => {});
}

test('rules and nodes of a ConfigMap are read, and again when it changes', async () => {
  await mountConfigMap('bases', '..1', { '1.json': '{"id":1,"status":1,"confId":1}' });
  await mountConfigMap('confs', '..1', { '1.json': leaf('Yes') });
  const source = await open();
  const selection = { app: 7, ruleId: 1n, confId: null };
  expect((await run(source.current())).outcome).toBe('TRUE');
  expect(source.current().problems).toEqual([]);
  const worker = rules();
  const read = () =>
    readTree({ ...selection, lane: null, address: null }, { rules: worker, metadataFor: async () => [] });
  const digest = digestOf(source.current().released, selection);
  expect(await read()).toMatchObject({ root: { className: 'Yes', problems: [] }, digest });
  expect(await worker.listRules(7)).toMatchObject({ rules: [{ id: 1n }], skipped: [] });

  await mountConfigMap('confs', '..2', { '1.json': leaf('No') });
  await source.reload();
  expect((await run(source.current())).outcome).toBe('FALSE');
  expect(await read()).toMatchObject({ root: { className: 'No' } });
});

test.each([
  ['out of the app', '../../8/confs/1.json', fault('link-outwards', {})],
  ['out of the app, to the root', '/etc/hostname', fault('link-outwards', {})],
  ['to nothing', 'none.json', fault('link-to-nothing', {})],
  ['to itself', '1.json', fault('link-in-circle', {})],
  ['to a directory', '../bases', fault('link-target', { fault: 'directory' })],
])('a link %s is named as one, and not followed', async (_, target, found) => {
  await files.rule(1, '"confId":1');
  await files.write(leaf('Yes'), 8, 'confs', '1.json');
  await mkdir(files.pathOf(7, 'confs'));
  await symlink(target, files.pathOf(7, 'confs/1.json'));
  expect(await rules().readNode(7, 1n)).toEqual({ kind: 'unusable', fault: found });
  const { problems } = (await open()).current();
  expect(problems).toContain(`confs/1.json ${causeOf(found)}`);
});

test('a folder behind a link is named, and not read', async () => {
  await files.write('{"id":1,"status":1,"confId":1}', 7, '..data', 'bases', '1.json');
  await symlink('..data/bases', files.pathOf(7, 'bases'));
  expect((await open()).current().problems).toEqual(['bases is a link']);
  expect(await rules().listRules(7)).toMatchObject({
    rules: [],
    skipped: [{ file: 'bases', fault: { problem: 'link' } }],
  });
});

test.each([
  ['the file', '..1/1.json', 'outside/1.json'],
  ['its folder', '..1', 'outside'],
])(
  '%s that a link leads to is replaced by a link after it was looked at: nothing outside is read',
  async (_, name, to) => {
    await files.write(leaf('Outside'), 'outside', '1.json');
    await mountConfigMap('confs', '..1', { '1.json': leaf('Yes') });
    const target = files.pathOf(7, 'confs', name);
    let looks = 0;
    async function realpath(path: string): Promise<string> {
      const real = await nodeFiles.realpath(path);
      // It is looked at for the cache, and again to be opened: then it is replaced.
      if (!path.endsWith('1.json') || ++looks !== 2) return real;
      await rename(target, files.pathOf('away'));
      await symlink(files.pathOf(to), target);
      return real;
    }
    const node = await createProcess(filesOf.as({ ...nodeFiles, realpath })).run(() => rules().readNode(7, 1n));
    expect(looks).toBe(2);
    expect(node.kind).not.toBe('found');
  },
);

test('the version is read through such a link, too', async () => {
  await mountConfigMap('', '..1', { 'version.txt': '3' });
  const worker = rules();
  expect(await worker.readVersion(7)).toBe(3n);
  expect((await open()).current().version).toBe(3n);
  const stamp = await worker.versionStamp(7);
  await mountConfigMap('', '..2', { 'version.txt': '4' });
  expect(await worker.versionStamp(7)).not.toBe(stamp);
});

import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { createPrivacy } from '../../../src/shared/privacy/privacy.ts';
import { createLogger } from '../../../src/shared/runtime/telemetry/logger.ts';
import { embeddedStores } from '../../../src/shared/store/embedded/stores/stores.ts';
import { treeKey } from '../../../src/shared/store/history/trees.ts';
import { createKeptTrees } from '../../../src/worker/rules/kept-trees.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readTree } from '../../../src/worker/rules/tree/tree.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryTables } from '../../support/memory-stores.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
});
afterEach(() => files.remove());

const metadataFor = async () => [];
const selected = (app: number) => ({ app, ruleId: 1n, confId: null, lane: null, address: null });
const keptSchema = z.object({ root: z.object({ values: z.object({ min: z.number() }) }) });

async function write(app: number, { version, min }: { version: number; min: number }): Promise<void> {
  await files.write(`{"id":1,"app":${app},"name":"gate","status":1,"confId":2}`, app, 'bases', '1.json');
  const node = { id: 2, app, status: 1, type: 5, confName: 'a.Spend', confField: JSON.stringify({ min }) };
  await files.write(JSON.stringify(node), app, 'confs', '2.json');
  const update = JSON.stringify({ version, insertOrUpdateConfs: [node] });
  await files.write(update, app, 'versions', `${version}_upd.json`);
  await files.write(String(version), app, 'version.txt');
}

function createKept({ off = [], bytes = 100_000 }: { off?: number[]; bytes?: number } = {}) {
  const rules = createRules({ sharedDir: files.sharedDir });
  const trees = embeddedStores(memoryTables()).openTrees(bytes);
  const settings = { HISTORY_SECONDS: 60, TREES_BYTES: bytes };
  const privacy = createPrivacy({ HISTORY_OFF: new Set(off), MASK: new Map() });
  const log = createLogger({ level: 'silent', role: 'test' });
  const kept = createKeptTrees({ rules, metadataFor, trees, privacy, settings, log });
  const digestOf = async (app: number): Promise<string> => {
    const tree = await readTree(selected(app), { rules, metadataFor });
    return tree.kind === 'tree' && tree.digest ? tree.digest : '';
  };
  const minIn = async (app: number, digest: string) => {
    const text = await trees.get(treeKey(app, digest));
    return text === null ? null : keptSchema.parse(JSON.parse(text)).root.values.min;
  };
  return { ...kept, digestOf, minIn, rules };
}

test('the tree is kept for each app, also where two have the same rules', async () => {
  for (const app of [7, 8]) await write(app, { version: 1, min: 100 });
  const kept = createKept();
  const digest = await kept.digestOf(7);
  expect(await kept.digestOf(8)).toBe(digest);
  kept.use({ digest, version: '1' }, selected(7));
  await eventually(async () => expect(await kept.minIn(7, digest)).toBe(100));
  expect(await kept.minIn(8, digest)).toBeNull();
  kept.use({ digest, version: '1' }, selected(8));
  await eventually(async () => expect(await kept.minIn(8, digest)).toBe(100));
});

test('a digest that an app never had names no tree of it, though another app has it', async () => {
  await write(7, { version: 1, min: 100 });
  const kept = createKept();
  const digest = await kept.digestOf(7);
  await write(8, { version: 1, min: 80 });
  const own = await kept.digestOf(8);
  kept.use({ digest, version: '1' }, selected(8));
  kept.use({ digest: own, version: '1' }, selected(8)); // the one that is asked for later is there
  await eventually(async () => expect(await kept.minIn(8, own)).toBe(80));
  expect([await kept.minIn(7, digest), await kept.minIn(8, digest)]).toEqual([null, null]);
});

test('the tree of an earlier version is made again from update files', async () => {
  await write(7, { version: 1, min: 100 });
  const kept = createKept();
  const digest = await kept.digestOf(7);
  await write(7, { version: 2, min: 80 });
  kept.use({ digest, version: '1' }, selected(7));
  await eventually(async () => expect(await kept.minIn(7, digest)).toBe(100));
});

test('the tree of the rules that were read before a run is kept although they were replaced since', async () => {
  await write(7, { version: 1, min: 100 });
  const kept = createKept();
  const digest = await kept.digestOf(7);
  const graph = await kept.rules.readGraph(selected(7));
  await write(7, { version: 2, min: 80 });
  await rm(files.pathOf('7/versions'), { recursive: true });
  kept.use({ digest, version: '1' }, selected(7), graph);
  await eventually(async () => expect(await kept.minIn(7, digest)).toBe(100));
});

test.each([
  ['of an app in HISTORY_OFF', { off: [7] }],
  ['that takes more than its share of the room', { bytes: 1000 }],
])('a tree %s is not kept', async (_, options) => {
  for (const app of [7, 8]) await write(app, { version: 1, min: 100 });
  const kept = createKept(options);
  const digest = await kept.digestOf(7);
  kept.use({ digest, version: '1' }, selected(7));
  const ample = createKept();
  ample.use({ digest, version: '1' }, selected(8)); // begun later, with as much to do
  await eventually(async () => expect(await ample.minIn(8, digest)).toBe(100));
  expect(await kept.minIn(7, digest)).toBeNull();
});

import { basename, join } from 'node:path';
import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { idOfFileName } from '../../shared/rules/file-name.ts';
import { memberNamed, parseObject } from '../../shared/rules/members.ts';
import { type RuleNode, readNode } from '../../shared/rules/node-file.ts';
import { absent, type Reading, unusable } from '../../shared/rules/reading.ts';
import { type Rule, readRule } from '../../shared/rules/rule-file.ts';
import { readUpdate, type Update, versionOf } from '../../shared/rules/update-file.ts';
import { createLimitPerApp } from '../files/concurrency-limit.ts';
import { readBoundedFile, refusal } from '../files/reading/bounded-file.ts';
import { createPathCache } from '../files/reading/path-cache.ts';
import { readdir } from '../files/seams/files.ts';
import type { FileStats } from '../files/seams/operations.ts';
import { isRealFolder, listFolder } from './folder-listing.ts';
import type { RuleIndex } from './rule-index.ts';
import { createRuleIndexes } from './rule-index.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_VERSION_BYTES = 64;
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
const PARALLEL_READS = 16;
const MAX_APP = 2_147_483_647;

type Load<T> = (path: string, stats: FileStats) => Promise<Reading<T>>;
/** A rule as one file says, and when that file was last changed. */
type DatedRule = { rule: Rule; modifiedMs: number };

export type ConfigFiles = ReturnType<typeof createConfigFiles>;

/** Finds an app's rules and nodes, and reads single files as they are now. Nothing below `sharedDir` is read through a link. */
export function createConfigFiles({ sharedDir, now }: { sharedDir: string; now: () => number }) {
  const run = createLimitPerApp(PARALLEL_READS, sharedDir);
  const cacheOf = <T>(load: Load<T>) => createPathCache({ run, now, maxBytes: MAX_CACHED_BYTES, load });
  const folders = cacheOf(listFolder);
  const rules = cacheOf(loaderOf((object, id, stats) => ({ rule: readRule(object, id), modifiedMs: stats.mtimeMs })));
  const nodes = cacheOf(loaderOf(readNode));
  const edits = cacheOf(loaderOf(readEdit));
  const indexOf = createRuleIndexes(folders.read);
  const pathOf = (app: number, ...rest: string[]) => join(sharedDir, String(app), ...rest);
  const isApp = (app: number) => isRealFolder(pathOf(app));
  const hasFolder = async (app: number, name: string) => (await isApp(app)) && isRealFolder(pathOf(app, name));
  const hasNodes = (app: number) => hasFolder(app, 'confs');

  return {
    /** The apps that have a folder for rules or nodes. */
    apps: () =>
      appsIn(sharedDir, (app) => run(pathOf(app), async () => (await hasFolder(app, 'bases')) || hasNodes(app))),

    /** Finds the folder of each rule of an app. */
    ruleIndex: async (app: number): Promise<Reading<RuleIndex>> =>
      (await isApp(app)) ? indexOf(pathOf(app, 'bases')) : absent,

    /** The rule in one folder of `ruleIndex`. */
    rule: (app: number, folder: string, id: bigint): Promise<Reading<DatedRule>> =>
      rules.read(pathOf(app, 'bases', folder, `${id}.json`)),

    /** Whether the app has a folder for nodes. Ask before `node`, which looks at the file alone. */
    hasNodes,

    /** One node. */
    node: (app: number, id: bigint) => nodes.read(pathOf(app, 'confs', `${id}.json`)),

    /** A node of a rule as it was edited and is not released yet. Ask `idsIn` before whether there is one. */
    edit: (app: number, ruleId: bigint, id: bigint) => edits.read(pathOf(app, 'updates', String(ruleId), `${id}.json`)),

    /** The ids that the files in a folder of an app are named by. */
    async idsIn(app: number, folder: string, ...below: string[]): Promise<readonly bigint[]> {
      const listing = (await hasFolder(app, folder)) ? await folders.read(pathOf(app, folder, ...below)) : absent;
      return listing.kind === 'found' ? listing.value.ids : [];
    },

    /** The update file of one version; null when there is none that can be read. */
    async update(app: number, version: bigint): Promise<Update | null> {
      const path = pathOf(app, 'versions', `${version}_upd.json`);
      const read = (await hasFolder(app, 'versions')) ? await readBoundedFile(path, MAX_FILE_BYTES) : absent;
      const update = read.kind === 'found' ? parseObject(read.value, readUpdate) : read;
      return update.kind === 'found' ? update.value : null;
    },

    /** The app's configuration version, null when there is none. */
    async version(app: number): Promise<bigint | null> {
      const text = (await isApp(app)) ? await readBoundedFile(pathOf(app, 'version.txt'), MAX_VERSION_BYTES) : absent;
      return text.kind === 'found' ? versionOf(text.value) : null;
    },
  };
}

async function appsIn(sharedDir: string, isOne: (app: number) => Promise<boolean>): Promise<number[]> {
  const names = await readdir(sharedDir).catch(() => []);
  const numbers = names.filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number);
  const found = await Promise.all(numbers.map(isOne));
  return numbers.filter((app, at) => app <= MAX_APP && found[at]).sort((a, b) => a - b);
}

function loaderOf<T>(read: (object: ExactObject, id: bigint, stats: FileStats) => T): Load<T> {
  return async (path, stats) => {
    const id = idOfFileName(basename(path));
    if (id === undefined) return unusable('is not named by an id');
    const text = refusal(stats, MAX_FILE_BYTES) ?? (await readBoundedFile(path, MAX_FILE_BYTES));
    return text.kind === 'found' ? parseObject(text.value, (object) => read(object, id, stats)) : text;
  };
}

/** The member `id` of an edit, if it has one, is the number of the edit. */
function readEdit(object: ExactObject, id: bigint): RuleNode {
  const { [memberNamed(object, 'id') ?? '']: _, ...node } = object;
  return readNode(node, id);
}

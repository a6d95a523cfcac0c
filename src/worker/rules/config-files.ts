import { basename, join, relative, sep } from 'node:path';
import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { fault } from '../../shared/reasons/causes.ts';
import { folderOf, idOfFileName, type Stray } from '../../shared/rules/entries.ts';
import { followLink, ofTarget } from '../../shared/rules/links.ts';
import { idMember, memberNamed, parseObject } from '../../shared/rules/members.ts';
import { type FileKind, type RuleNode, readNode } from '../../shared/rules/node-file.ts';
import { absent, aLink, type Reading, readingOfError, unusable } from '../../shared/rules/reading.ts';
import { readRule } from '../../shared/rules/rule-file.ts';
import { readUpdate, type Update, versionOf } from '../../shared/rules/update-file.ts';
import { withoutLinks } from '../files/client-directory.ts';
import { appsIn } from '../files/file-names.ts';
import { lstatCached, readBoundedFile } from '../files/file-system.ts';
import { readdir, realpath } from '../files/ports/files.ts';
import type { FileStats } from '../files/ports/operations.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import { createPathCache } from '../files/reading/path-cache.ts';
import { type FolderListing, isRealFolder, listFolder } from './folder-listing.ts';
import { createRuleIndexes, type RuleIndex } from './rule-index.ts';

const MAX_CACHED_BYTES = 32 * 1024 * 1024;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_VERSION_BYTES = 64;

export type ConfigFiles = ReturnType<typeof createConfigFiles>;

/** Finds the rules and nodes of all apps below the shared directory, and reads single files as they are now. */
export function createConfigFiles({ sharedDir, now }: { sharedDir: string; now: () => number }) {
  const { folders, rules, nodes, edits, strays, updates } = createCaches(sharedDir, now);
  const indexOf = createRuleIndexes(folders.read);
  const { pathOf, isApp, hasFolder } = createPlaces(sharedDir);
  const hasRules = async (app: number) => (await hasFolder(app, 'bases')) || hasFolder(app, 'confs');

  return {
    /** The apps that have a folder for rules or nodes, ascending. */
    async apps(): Promise<number[]> {
      const apps = appsIn(await readdir(sharedDir).catch(() => [])).sort((a, b) => a - b);
      const found = await mapInBulk(apps, hasRules);
      return apps.filter((_, at) => found[at]);
    },

    /** Another text whenever the version may be another one. */
    versionStamp: (app: number) => stampOf(sharedDir, pathOf(app, 'version.txt')),

    /** The app's configuration version, null when there is none. */
    version: async (app: number) => ((await isApp(app)) ? versionIn(sharedDir, pathOf(app, 'version.txt')) : null),

    /** Finds the folder of each rule of an app. */
    ruleIndex: async (app: number): Promise<Reading<RuleIndex>> =>
      (await isApp(app)) ? indexOf(pathOf(app, 'bases')) : absent,

    /** The rule in one folder of `ruleIndex`, and when its file was last changed. */
    rule: (app: number, folder: string, id: bigint) => rules.read(pathOf(app, 'bases', folder, `${id}.json`)),

    /** The files for nodes. Ask before `node`, which looks at the file alone. */
    nodeFiles: async (app: number): Promise<Reading<FolderListing>> =>
      (await isApp(app)) ? folders.read(pathOf(app, 'confs')) : absent,

    /** One node. */
    node: (app: number, id: bigint) => nodes.read(pathOf(app, 'confs', `${id}.json`)),

    /** What files say they are that are not named by an id. */
    strays: (app: number, kind: FileKind, names: readonly string[]): Promise<Stray[]> =>
      mapInBulk(names, async (file) => ({ file, id: valueIn(await strays.read(pathOf(app, folderOf[kind], file))) })),

    /** A node of a rule as it was edited and is not released yet. Ask `edited` before whether there is one. */
    edit: (app: number, ruleId: bigint, id: bigint) => edits.read(pathOf(app, 'updates', String(ruleId), `${id}.json`)),

    /** Reads the update file of one version of an app; null where there is none that can be read. */
    async updatesOf(app: number): Promise<(version: bigint) => Promise<Update | null>> {
      const has = await hasFolder(app, 'versions');
      return async (version) =>
        has ? valueIn(await updates.read(pathOf(app, 'versions', `${version}_upd.json`))) : null;
    },

    /** The ids of the nodes of a rule that were edited and are not released yet. */
    async edited(app: number, ruleId: bigint): Promise<readonly bigint[]> {
      if (!(await hasFolder(app, 'updates'))) return [];
      return valueIn(await folders.read(pathOf(app, 'updates', String(ruleId))))?.ids ?? [];
    },
  };
}

/** The folders of apps. */
function createPlaces(sharedDir: string) {
  const pathOf = (app: number, ...rest: string[]) => join(sharedDir, String(app), ...rest);
  const isApp = (app: number) => isRealFolder(pathOf(app));
  const hasFolder = async (app: number, name: string) => (await isApp(app)) && isRealFolder(pathOf(app, name));
  return { pathOf, isApp, hasFolder };
}

async function versionIn(sharedDir: string, path: string): Promise<bigint | null> {
  const text = await readIn(sharedDir, path, MAX_VERSION_BYTES);
  return text.kind === 'found' ? versionOf(text.value) : null;
}

const valueIn = <T>(reading: Reading<T>): T | null => (reading.kind === 'found' ? reading.value : null);

function createCaches(sharedDir: string, now: () => number) {
  const cache = { now, maxBytes: MAX_CACHED_BYTES };
  /** `id`: that of the file's name. */
  const objects = <T>(
    parse: (object: ExactObject, id: bigint | undefined, of: { path: string; stats: FileStats }) => T,
  ) =>
    createPathCache({
      ...{ ...cache, follow: (path) => followIn(sharedDir, path) },
      load: async (path, stats) => {
        const text = await readIn(sharedDir, path, MAX_FILE_BYTES);
        const id = idOfFileName(basename(path));
        return text.kind === 'found' ? parseObject(text.value, (object) => parse(object, id, { path, stats })) : text;
      },
    });
  return {
    folders: createPathCache({ ...cache, load: listFolder }),
    rules: objects((object, id, { stats }) => ({ rule: readRule(object, id), modifiedMs: stats.mtimeMs })),
    nodes: objects(readNode),
    edits: objects(readEdit),
    strays: objects((object) => idMember(object, 'id')),
    updates: objects((object, _, { path }) => readUpdate(object, BigInt(basename(path).split('_', 1)[0] ?? 0))),
  };
}

/** The member `id` of an edit, if it has one, is the number of the edit. */
function readEdit(object: ExactObject, id: bigint | undefined): RuleNode {
  const { [memberNamed(object, 'id') ?? '']: _, ...node } = object;
  return readNode(node, id);
}

async function stampOf(sharedDir: string, path: string): Promise<string> {
  const named = await lstatCached(path).catch(() => null);
  const target = named?.isSymbolicLink() ? await followIn(sharedDir, path) : null; // it changes without the link
  const stats = target?.kind === 'found' ? await lstatCached(target.value).catch(() => null) : named;
  return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}` : '';
}

/** Where a link leads that stays in the folder of its app. */
async function followIn(sharedDir: string, path: string): Promise<Reading<string>> {
  const root = await realpath(sharedDir);
  const [app = ''] = relative(sharedDir, path).split(sep);
  const target = await followLink(path, { real: join(root, app), resolve: realpath });
  return target.kind === 'found' ? { kind: 'found', value: join(sharedDir, relative(root, target.value)) } : target;
}

/** The text of a file of rules, also by a link that stays in the folder of its app. No other link is followed. */
async function readIn(sharedDir: string, path: string, maxBytes: number): Promise<Reading<string>> {
  const text = await readBoundedFile(path, maxBytes);
  const target = text === aLink ? await followIn(sharedDir, path) : text;
  if (text !== aLink || target.kind !== 'found') return target;
  const names = relative(sharedDir, target.value).split(sep);
  const found = await withoutLinks(sharedDir, names, (real) => readBoundedFile(real, maxBytes)).catch(readingOfError);
  return found ? ofTarget(found) : unusable(fault('link-unfollowed', {}));
}

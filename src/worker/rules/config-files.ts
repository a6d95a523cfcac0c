import { basename } from 'node:path';
import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { folderOf, idOfFileName, type Stray } from '../../shared/rules/entries.ts';
import { idMember, memberNamed, parseObject } from '../../shared/rules/members.ts';
import { type FileKind, type RuleNode, readNode } from '../../shared/rules/node-file.ts';
import { absent, type Reading } from '../../shared/rules/reading.ts';
import { type Rule, readRule } from '../../shared/rules/rule-file.ts';
import { readUpdate, type Update } from '../../shared/rules/update-file.ts';
import type { FileStats } from '../files/ports/operations.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import { createPathCache } from '../files/reading/path-cache.ts';
import { type AppFiles, createAppFiles } from './app-files.ts';
import { type FolderListing, listFolder } from './folder-listing.ts';
import { createRuleIndexes, type RuleIndex } from './rule-index.ts';

const MAX_CACHED_BYTES = 32 * 1024 * 1024;

/** A rule as one file says, and when that file was last changed. */
type DatedRule = { rule: Rule; modifiedMs: number };

export type ConfigFiles = ReturnType<typeof createConfigFiles>;

/** Finds an app's rules and nodes, and reads single files as they are now. */
export function createConfigFiles({ sharedDir, now }: { sharedDir: string; now: () => number }) {
  const { pathOf, isApp, hasFolder, read, follow, ...files } = createAppFiles(sharedDir);
  const { folders, rules, nodes, edits, strays, updates } = createCaches({ now, read, follow });
  const indexOf = createRuleIndexes(folders.read);
  const hasRules = async (app: number) => (await hasFolder(app, 'bases')) || hasFolder(app, 'confs');

  return {
    ...files,

    /** The apps that have a folder for rules or nodes, ascending. */
    async apps(): Promise<number[]> {
      const apps = await files.apps();
      const found = await mapInBulk(apps, hasRules);
      return apps.filter((_, at) => found[at]);
    },

    /** Finds the folder of each rule of an app. */
    ruleIndex: async (app: number): Promise<Reading<RuleIndex>> =>
      (await isApp(app)) ? indexOf(pathOf(app, 'bases')) : absent,

    /** The rule in one folder of `ruleIndex`. */
    rule: (app: number, folder: string, id: bigint) => rules.read(pathOf(app, 'bases', folder, `${id}.json`)),

    /** The files for nodes. Ask before `node`, which looks at the file alone. */
    nodeFiles: async (app: number): Promise<Reading<FolderListing>> =>
      (await isApp(app)) ? folders.read(pathOf(app, 'confs')) : absent,

    /** One node. */
    node: (app: number, id: bigint) => nodes.read(pathOf(app, 'confs', `${id}.json`)),

    /** What files say they are that are not named by an id. */
    strays: (app: number, kind: FileKind, names: readonly string[]): Promise<Stray[]> =>
      Promise.all(
        names.map(async (file) => ({ file, id: valueIn(await strays.read(pathOf(app, folderOf[kind], file))) })),
      ),

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
      const has = await hasFolder(app, 'updates');
      const listing = has ? await folders.read(pathOf(app, 'updates', String(ruleId))) : absent;
      return listing.kind === 'found' ? listing.value.ids : [];
    },
  };
}

const valueIn = <T>(reading: Reading<T>): T | null => (reading.kind === 'found' ? reading.value : null);

type Caching = Pick<Parameters<typeof createPathCache>[0], 'now'> & Pick<AppFiles, 'read' | 'follow'>;

function createCaches({ now, read, follow }: Caching) {
  const cache = { now, maxBytes: MAX_CACHED_BYTES };
  const objects = <T>(parse: (object: ExactObject, path: string, stats: FileStats) => T) =>
    createPathCache({
      ...{ ...cache, follow },
      load: async (path, stats) => {
        const text = await read(path);
        return text.kind === 'found' ? parseObject(text.value, (object) => parse(object, path, stats)) : text;
      },
    });
  const folders = createPathCache({ ...cache, load: listFolder });
  const rules = objects(
    (object, path, { mtimeMs }): DatedRule => ({ rule: readRule(object, idOf(path)), modifiedMs: mtimeMs }),
  );
  const nodes = objects((object, path) => readNode(object, idOf(path)));
  const edits = objects((object, path) => readEdit(object, idOf(path)));
  const strays = objects((object) => idMember(object, 'id'));
  const updates = objects((object, path) => readUpdate(object, BigInt(basename(path).split('_', 1)[0] ?? 0)));
  return { folders, rules, nodes, edits, strays, updates };
}

/** Only files that are named by an id are asked for. */
const idOf = (path: string) => idOfFileName(basename(path));

/** The member `id` of an edit, if it has one, is the number of the edit. */
function readEdit(object: ExactObject, id: bigint | undefined): RuleNode {
  const { [memberNamed(object, 'id') ?? '']: _, ...node } = object;
  return readNode(node, id);
}

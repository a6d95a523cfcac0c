import { dirname, join, relative, sep } from 'node:path';
import { followLink, ofTarget } from '../../shared/rules/links.ts';
import { parseObject } from '../../shared/rules/members.ts';
import { absent, aLink, type Reading, readingOfError, unusable } from '../../shared/rules/reading.ts';
import { readUpdate, type Update, versionOf } from '../../shared/rules/update-file.ts';
import { limitedByDirectory } from '../files/directory/directory-limit.ts';
import { withoutLinks } from '../files/directory/real-directory.ts';
import { readBoundedFile } from '../files/reading/bounded-file.ts';
import { readdir, realpath } from '../files/seams/files.ts';
import { isRealFolder } from './folder-listing.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_VERSION_BYTES = 64;
const MAX_APP = 2_147_483_647;

export type AppFiles = ReturnType<typeof createAppFiles>;

/** The folders of apps below the shared directory, and single files in them. */
export function createAppFiles(sharedDir: string) {
  const pathOf = (app: number, ...rest: string[]) => join(sharedDir, String(app), ...rest);
  const isApp = (app: number) => isRealFolder(pathOf(app));

  /** Where a link leads that stays in the folder of its app. */
  async function follow(path: string): Promise<Reading<string>> {
    const root = await realpath(sharedDir);
    const [app = ''] = relative(sharedDir, path).split(sep);
    const resolve = (link: string) => limitedByDirectory(dirname(link), () => realpath(link));
    const target = await followLink(path, { real: join(root, app), resolve });
    return target.kind === 'found' ? { kind: 'found', value: join(sharedDir, relative(root, target.value)) } : target;
  }

  async function read(path: string, maxBytes = MAX_FILE_BYTES): Promise<Reading<string>> {
    const text = await readBoundedFile(path, maxBytes);
    const target = text === aLink ? await follow(path) : text;
    if (text !== aLink || target.kind !== 'found') return target;
    const names = relative(sharedDir, target.value).split(sep);
    const found = await withoutLinks(sharedDir, names, (real) => readBoundedFile(real, maxBytes)).catch(readingOfError);
    return found ? ofTarget(found) : unusable('is a link, which is not followed on this file system');
  }

  return {
    pathOf,
    isApp,
    hasFolder: async (app: number, name: string) => (await isApp(app)) && isRealFolder(pathOf(app, name)),

    /** The text of a file of rules, also by a link that stays in the folder of its app. No other link is followed. */
    read,
    follow,

    /** The apps that have a folder, ascending. */
    async apps(): Promise<number[]> {
      const names = await readdir(sharedDir).catch(() => []);
      const numbers = names.filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number);
      return numbers.filter((app) => app <= MAX_APP).sort((a, b) => a - b);
    },

    /** The update file of one version; null when there is none that can be read. */
    async update(app: number, version: bigint): Promise<Update | null> {
      const path = pathOf(app, 'versions', `${version}_upd.json`);
      const text = (await isApp(app)) && (await isRealFolder(dirname(path))) ? await read(path) : absent;
      const update = text.kind === 'found' ? parseObject(text.value, readUpdate) : text;
      return update.kind === 'found' ? update.value : null;
    },

    /** The app's configuration version, null when there is none. */
    async version(app: number): Promise<bigint | null> {
      const text = (await isApp(app)) ? await read(pathOf(app, 'version.txt'), MAX_VERSION_BYTES) : absent;
      return text.kind === 'found' ? versionOf(text.value) : null;
    },
  };
}

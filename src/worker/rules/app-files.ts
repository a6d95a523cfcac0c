import { join, relative, sep } from 'node:path';
import { fault } from '../../shared/reasons/causes.ts';
import { followLink, ofTarget } from '../../shared/rules/links.ts';
import { absent, aLink, type Reading, readingOfError, unusable } from '../../shared/rules/reading.ts';
import { versionOf } from '../../shared/rules/update-file.ts';
import { withoutLinks } from '../files/client-directory.ts';
import { appsIn } from '../files/file-names.ts';
import { lstatCached, readBoundedFile } from '../files/file-system.ts';
import { readdir, realpath } from '../files/ports/files.ts';
import { isRealFolder } from './folder-listing.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_VERSION_BYTES = 64;

export type AppFiles = ReturnType<typeof createAppFiles>;

/** The folders of apps below the shared directory, and single files in them. */
export function createAppFiles(sharedDir: string) {
  const pathOf = (app: number, ...rest: string[]) => join(sharedDir, String(app), ...rest);
  const isApp = (app: number) => isRealFolder(pathOf(app));
  const follow = (path: string) => followIn(sharedDir, path);
  const read = (path: string, maxBytes = MAX_FILE_BYTES) => readIn(sharedDir, path, maxBytes);

  return {
    pathOf,
    isApp,
    hasFolder: async (app: number, name: string) => (await isApp(app)) && isRealFolder(pathOf(app, name)),

    /** The text of a file of rules, also by a link that stays in the folder of its app. No other link is followed. */
    read,
    follow,

    /** The apps that have a folder, ascending. */
    async apps(): Promise<number[]> {
      return appsIn(await readdir(sharedDir).catch(() => [])).sort((a, b) => a - b);
    },

    /** Another text whenever the version may be another one. */
    async versionStamp(app: number): Promise<string> {
      const path = pathOf(app, 'version.txt');
      const named = await lstatCached(path).catch(() => null);
      const target = named?.isSymbolicLink() ? await follow(path) : null; // it changes without the link
      const stats = target?.kind === 'found' ? await lstatCached(target.value).catch(() => null) : named;
      return stats ? `${stats.ino}:${stats.size}:${stats.mtimeMs}` : '';
    },

    /** The app's configuration version, null when there is none. */
    async version(app: number): Promise<bigint | null> {
      const text = (await isApp(app)) ? await read(pathOf(app, 'version.txt'), MAX_VERSION_BYTES) : absent;
      return text.kind === 'found' ? versionOf(text.value) : null;
    },
  };
}

/** Where a link leads that stays in the folder of its app. */
async function followIn(sharedDir: string, path: string): Promise<Reading<string>> {
  const root = await realpath(sharedDir);
  const [app = ''] = relative(sharedDir, path).split(sep);
  const target = await followLink(path, { real: join(root, app), resolve: realpath });
  return target.kind === 'found' ? { kind: 'found', value: join(sharedDir, relative(root, target.value)) } : target;
}

async function readIn(sharedDir: string, path: string, maxBytes: number): Promise<Reading<string>> {
  const text = await readBoundedFile(path, maxBytes);
  const target = text === aLink ? await followIn(sharedDir, path) : text;
  if (text !== aLink || target.kind !== 'found') return target;
  const names = relative(sharedDir, target.value).split(sep);
  const found = await withoutLinks(sharedDir, names, (real) => readBoundedFile(real, maxBytes)).catch(readingOfError);
  return found ? ofTarget(found) : unusable(fault('link-unfollowed', {}));
}

import { join } from 'node:path';
import { fault } from '../../shared/reasons/causes.ts';
import type { Skipped } from '../../shared/rules/entries.ts';
import type { Reading } from '../../shared/rules/reading.ts';
import type { FolderListing } from './folder-listing.ts';

const MAX_FOLDERS = 10_000;
const MAX_FOLDERS_DEEP = 32;

/** The folders below `bases` of an app's rule files, by rule id. A file that is being moved may stand in two. */
export type RuleIndex = ReturnType<typeof indexOfListings>;

type Listed = { folder: string; listing: FolderListing };

/** Finds rule files by walking the nested folders of an app. Unchanged listings give back the index made from them. */
export function createRuleIndexes(readFolder: (path: string) => Promise<Reading<FolderListing>>) {
  const known = new Map<string, { listed: Listed[]; index: RuleIndex }>();

  return async function indexOf(bases: string): Promise<Reading<RuleIndex>> {
    const root = await readFolder(bases);
    if (root.kind !== 'found') {
      known.delete(bases);
      return root;
    }
    const { listed, skipped } = await walk(bases, root.value, readFolder);
    const last = known.get(bases);
    if (skipped.length === 0 && last && sameListings(last.listed, listed)) return { kind: 'found', value: last.index };
    const index = indexOfListings(listed, skipped);
    known.set(bases, { listed, index });
    return { kind: 'found', value: index };
  };
}

/** Breadth first, one level at a time; both bounds only matter where mounts make a circle. */
async function walk(bases: string, root: FolderListing, readFolder: (path: string) => Promise<Reading<FolderListing>>) {
  const listed: Listed[] = [{ folder: '', listing: root }];
  const skipped: Skipped[] = [];
  let level = subfoldersOf(listed);
  for (let depth = 1; level.length > 0; depth++) {
    const room = depth > MAX_FOLDERS_DEEP ? 0 : MAX_FOLDERS - listed.length;
    if (level.length > room) skipped.push({ file: level[0] ?? '', fault: fault('too-many-folders', {}) });
    const found: Listed[] = [];
    const readings = await Promise.all(
      level.slice(0, room).map(async (folder) => ({ folder, reading: await readFolder(join(bases, folder)) })),
    );
    for (const { folder, reading } of readings) {
      if (reading.kind === 'found') found.push({ folder, listing: reading.value });
      if (reading.kind === 'unusable') skipped.push({ file: folder, fault: reading.fault });
    }
    listed.push(...found);
    level = subfoldersOf(found);
  }
  return { listed, skipped };
}

function subfoldersOf(listed: Listed[]): string[] {
  return listed.flatMap(({ folder, listing }) => listing.folders.map((name) => join(folder, name)));
}

function sameListings(before: Listed[], now: Listed[]): boolean {
  return before.length === now.length && now.every(({ listing }, at) => before[at]?.listing === listing);
}

function indexOfListings(listed: Listed[], unread: Skipped[]) {
  const folders = new Map<bigint, string[]>();
  const skipped = [...unread];
  const strays: string[] = [];
  for (const { folder, listing } of listed) {
    for (const id of listing.ids) {
      const places = folders.get(id);
      if (places) places.push(folder);
      else folders.set(id, [folder]);
    }
    strays.push(...listing.strays.map((file) => join(folder, file)));
    skipped.push(...listing.skipped.map((entry) => ({ ...entry, file: join(folder, entry.file) })));
  }
  return { folders, strays, skipped };
}

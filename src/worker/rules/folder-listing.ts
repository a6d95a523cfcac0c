import { fault } from '../../shared/reasons/causes.ts';
import { kindOf, type Skipped } from '../../shared/rules/entries.ts';
import { type Reading, unusable } from '../../shared/rules/reading.ts';
import { entriesIn, lstat } from '../files/file-system.ts';
import type { Entry, FileStats } from '../files/ports/operations.ts';

const MAX_ENTRIES = 100_000;
const MAX_SKIPPED = 100;

/** The content of one folder: files named by an id, folders to look into, other JSON files, and entries that are passed over. */
export type FolderListing = { ids: bigint[]; folders: string[]; strays: string[]; skipped: Skipped[] };

/** Lists one real folder. A link to one is not followed. */
export async function listFolder(path: string, stats: FileStats): Promise<Reading<FolderListing>> {
  if (!stats.isDirectory()) return unusable(fault('no-folder', {}));
  const listing: FolderListing = { ids: [], folders: [], strays: [], skipped: [] };
  let entries = 0;
  for await (const entry of await entriesIn(path)) {
    if (++entries > MAX_ENTRIES) {
      listing.skipped.push({ file: '', fault: fault('too-many-entries', { most: MAX_ENTRIES }) });
      break;
    }
    sort(entry, listing);
  }
  return { kind: 'found', value: listing };
}

/** Whether a folder stands here itself, not a link to one. */
export async function isRealFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function sort(entry: Entry, { ids, folders, strays, skipped }: FolderListing): void {
  const found = kindOf(entry);
  if (found.kind === 'file') ids.push(found.id);
  else if (found.kind === 'folder') folders.push(entry.name);
  else if (found.kind === 'stray' && strays.length < MAX_SKIPPED) strays.push(entry.name);
  else if (found.kind === 'refused' && skipped.length < MAX_SKIPPED)
    skipped.push({ file: entry.name, fault: found.fault });
}

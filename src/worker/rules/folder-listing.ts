import { idOfFileName } from '../../shared/rules/file-name.ts';
import { type Reading, unusable } from '../../shared/rules/reading.ts';
import { limitedByDirectory } from '../files/directory/directory-limit.ts';
import { entriesIn } from '../files/reading/folder-entries.ts';
import { lstat } from '../files/seams/files.ts';
import type { Entry, FileStats } from '../files/seams/operations.ts';

const MAX_ENTRIES = 100_000;
const MAX_SKIPPED = 100;

/** A file that is passed over, and why. */
export type Skipped = { file: string; reason: string };

/** The content of one folder: files named by an id, folders to look into, and entries that are passed over. */
export type FolderListing = { ids: bigint[]; folders: string[]; skipped: Skipped[] };

/** Lists one real folder. Links are not followed; folders whose names begin with `_` or `.` hold no rules. */
export async function listFolder(path: string, stats: FileStats): Promise<Reading<FolderListing>> {
  if (!stats.isDirectory()) return unusable(stats.isSymbolicLink() ? 'is a link' : 'is not a folder');
  const listing: FolderListing = { ids: [], folders: [], skipped: [] };
  let entries = 0;
  for await (const entry of await entriesIn(path)) {
    if (++entries > MAX_ENTRIES) {
      listing.skipped.push({ file: '', reason: `has more than ${MAX_ENTRIES} entries: the rest was not read` });
      break;
    }
    sort(entry, listing);
  }
  return { kind: 'found', value: listing };
}

/** Whether a folder stands here itself, not a link to one. */
export async function isRealFolder(path: string): Promise<boolean> {
  return limitedByDirectory(path, () => lstat(path)).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

function sort(entry: Entry, { ids, folders, skipped }: FolderListing): void {
  const skip = (reason: string) => {
    if (skipped.length < MAX_SKIPPED) skipped.push({ file: entry.name, reason });
  };
  const id = idOfFileName(entry.name);
  if (!entry.name.endsWith('.json')) {
    if (entry.isDirectory() && !/^[_.]/.test(entry.name)) folders.push(entry.name);
    else if (entry.isSymbolicLink()) skip('is a link');
  } else if (id === undefined) skip('is not named by an id');
  else if (entry.isFile()) ids.push(id);
  else skip(entry.isSymbolicLink() ? 'is a link' : 'is not a regular file');
}

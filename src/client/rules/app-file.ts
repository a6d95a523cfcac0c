import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { followLink, ofTarget } from '../../shared/rules/links.ts';
import { absent, faultOfKind, type Reading, unusable } from '../../shared/rules/reading.ts';
import { unless } from '../../shared/runtime/errno.ts';

/** Follows no link, and does not wait at a pipe. */
const READ_SAFELY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type AppFile = { text: string; modifiedMs: number };

/** Reads a file of an app's folder, also by a link that stays in there. Throws where the file system fails. */
export async function readAppFile(directory: string, path: string): Promise<Reading<AppFile>> {
  const file = await read(path).catch(unless('ENOENT', 'ENOTDIR', 'ELOOP'));
  if (file !== undefined) return file;
  // ELOOP is the answer to a link; a file that is gone has no link in its place.
  if (!(await lstat(path).catch(unless('ENOENT', 'ENOTDIR')))?.isSymbolicLink()) return absent;
  const target = await followLink(path, { real: await realpath(directory), resolve: realpath });
  if (target.kind !== 'found') return target;
  return ofTarget((await read(target.value).catch(unless('ENOENT', 'ENOTDIR', 'ELOOP'))) ?? absent);
}

async function read(path: string): Promise<Reading<AppFile>> {
  const file = await open(path, READ_SAFELY);
  try {
    const stats = await file.stat();
    const found = faultOfKind(stats);
    if (found !== null) return unusable(found);
    const decoded = decodeWhole(await file.readFile());
    if (decoded.kind === 'wrong') return unusable(decoded.fault);
    return { kind: 'found', value: { text: decoded.text, modifiedMs: stats.mtimeMs } };
  } finally {
    await file.close();
  }
}

import { randomBytes } from 'node:crypto';
import { access, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { joinMembers, toAscii } from '../../shared/contract/exact-json.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { type DialectName, dialects, type RequestContent } from '../dialects/dialect.ts';
import type { Claim } from './claim.ts';
import {
  MADE_BY_US,
  openFileName,
  requestFileName,
  resultFileName,
  temporaryFileName,
  withdrawnFileName,
} from './file-names.ts';
import { createFile, rename, unlink } from './quick-files.ts';

/** Where the files of one execution lie. */
export type Place = { directory: string; mockId: string };

export const requestPath = ({ directory, mockId }: Place) => join(directory, requestFileName(mockId));
export const resultPath = ({ directory, mockId }: Place) => join(directory, resultFileName(mockId));
const withdrawnPath = ({ directory, mockId }: Place) => join(directory, withdrawnFileName(mockId));
const openPath = ({ directory, mockId }: Place) => join(directory, openFileName(mockId));

/** Writes the request under a name no client looks at, and returns that name. */
export async function writeTemporary(
  directory: string,
  content: RequestContent,
  dialect: DialectName,
): Promise<string> {
  const name = temporaryFileName(content.mockId, randomBytes(4).toString('hex'));
  const text = toAscii(joinMembers(dialects[dialect].requestMembers(content, Date.now())));
  try {
    await createFile(join(directory, name), text);
  } catch (error) {
    await removed(join(directory, name)).catch(() => {}); // on a full disk it may be there, and empty
    throw error;
  }
  return name;
}

/** Marks the execution as open: keeps the directory from being empty, and tells other workers who is busy. */
export async function markOpen(place: Place): Promise<void> {
  await writeFile(openPath(place), '');
}

/** Makes the request visible. Only the file named in the claim is ever renamed, so however often this is called, it happens once. */
export async function dispatch(place: Place, { temporary }: Claim): Promise<'dispatched' | 'was-dispatched'> {
  try {
    await rename(join(place.directory, temporary), requestPath(place));
    return 'dispatched';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'was-dispatched';
    throw error;
  }
}

/**
 * Takes the request back; false when the client may have it. A note of it stays, so that whoever goes on with the
 * execution does not take it for picked up.
 */
export async function withdraw(place: Place, { temporary }: Claim): Promise<boolean> {
  // A dispatcher that is asleep must not find anything to rename when it wakes up.
  const neverDispatched = await moved(join(place.directory, temporary), withdrawnPath(place));
  return neverDispatched || (await moved(requestPath(place), withdrawnPath(place))) || wasWithdrawn(place);
}

/** Whether the request was taken back, by whichever worker. */
export async function wasWithdrawn(place: Place): Promise<boolean> {
  return isThere(withdrawnPath(place));
}

/** Removes the request file; false when it was gone already. */
export async function removeRequest(place: Place): Promise<boolean> {
  return removed(requestPath(place));
}

/** Whether the request is still there. */
export async function isRequestThere(place: Place): Promise<boolean> {
  return isThere(requestPath(place));
}

/** Removes what an ended execution left: the request before the result, so that a client never finds a request answered already. */
export async function removeFiles(place: Place, claim: Claim, { keepAnswer = false } = {}): Promise<void> {
  await removeRequest(place);
  await removed(withdrawnPath(place));
  if (!keepAnswer) await removeAnswer(place);
  if (claim.madeDirectory) await removeIfNobodyCame(place.directory);
}

export async function removeTemporary({ directory }: Place, temporary: string): Promise<void> {
  await removed(join(directory, temporary));
}

export async function removeOpenMark(place: Place): Promise<void> {
  await removed(openPath(place));
}

/** A directory made for an address nobody answered at goes again; one with anything else in it stays. */
export async function removeIfNobodyCame(directory: string): Promise<void> {
  const marker = join(directory, MADE_BY_US);
  const names = await readdir(directory).catch(unless('ENOENT', 'ENOTDIR'));
  // Of several executions that wait there the last one removes it; taking the marker away in between would confuse it.
  if (names?.length !== 1 || !(await removed(marker))) return;
  const gone = await rmdir(directory).then(
    () => true,
    (error) => unless('ENOTEMPTY', 'EEXIST')(error) ?? errnoOf(error) === 'ENOENT',
  );
  if (!gone) await writeFile(marker, '').catch(unless('ENOENT')); // another execution waits there: it tries again
}

/** The directory of a client that unregistered goes with it: left behind, it would look like a client of its own. */
export async function removeIfLeft({ directory }: Place, registration: string): Promise<void> {
  const left = await access(registration).then(
    () => false,
    (error) => errnoOf(error) === 'ENOENT',
  );
  if (left) await rmdir(directory).catch(unless('ENOENT', 'ENOTEMPTY', 'EEXIST'));
}

/** A client may have put anything where its result belongs, even a directory. */
export async function removeAnswer(place: Place): Promise<void> {
  const path = resultPath(place);
  await removed(path).catch(() => rm(path, { recursive: true, force: true }));
}

/** Somebody picked up from a directory we made: from now on it is a client's. */
export async function keepDirectory(directory: string): Promise<void> {
  await removed(join(directory, MADE_BY_US));
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    (error) => unless('ENOENT')(error) ?? false,
  );
}

async function moved(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    (error) => unless('ENOENT', 'ENOTDIR')(error) ?? false,
  );
}

async function removed(path: string): Promise<boolean> {
  return unlink(path).then(
    () => true,
    (error) => unless('ENOENT', 'ENOTDIR')(error) ?? false,
  );
}

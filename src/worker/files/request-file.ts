import { randomBytes } from 'node:crypto';
import { access, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DialectName } from '../../shared/contract/client-kinds.ts';
import { joinMembers, toAscii } from '../../shared/contract/exact-json.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { RequestContent } from '../dialects/dialect.ts';
import { dialects } from '../dialects/dialects.ts';
import type { Claim } from './claim.ts';
import { inDirectory } from './directory-limit.ts';
import {
  MADE_BY_US,
  mockDirectory,
  openFileName,
  requestFileName,
  resultFileName,
  temporaryFileName,
  withdrawnFileName,
} from './file-names.ts';
import { createFile, rename, unlink } from './quick-files.ts';

/** Where the files of one execution lie. */
export type ExecutionFiles = { directory: string; mockId: string };

/** Where the files of a claimed execution lie. */
export function filesOf(sharedDir: string, { app, directoryName, mockId }: Claim): ExecutionFiles {
  return { directory: join(mockDirectory(sharedDir, app), directoryName), mockId };
}

export const requestPath = ({ directory, mockId }: ExecutionFiles) => join(directory, requestFileName(mockId));
export const resultPath = ({ directory, mockId }: ExecutionFiles) => join(directory, resultFileName(mockId));
const withdrawnPath = ({ directory, mockId }: ExecutionFiles) => join(directory, withdrawnFileName(mockId));
const openPath = ({ directory, mockId }: ExecutionFiles) => join(directory, openFileName(mockId));

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
export async function markOpen(files: ExecutionFiles): Promise<void> {
  await inDirectory(files.directory, () => writeFile(openPath(files), ''));
}

/** Makes the request visible. Only the file named in the claim is ever renamed, so however often this is called, it happens once. */
export async function renameRequest(
  files: ExecutionFiles,
  { temporary }: Claim,
): Promise<'dispatched' | 'was-dispatched'> {
  try {
    await rename(join(files.directory, temporary), requestPath(files));
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
export async function withdraw(files: ExecutionFiles, { temporary }: Claim): Promise<boolean> {
  // A dispatcher that is asleep must not find anything to rename when it wakes up.
  const neverDispatched = await moved(join(files.directory, temporary), withdrawnPath(files));
  return neverDispatched || (await moved(requestPath(files), withdrawnPath(files))) || wasWithdrawn(files);
}

/** Whether the request was taken back, by whichever worker. */
export async function wasWithdrawn(files: ExecutionFiles): Promise<boolean> {
  return isThere(withdrawnPath(files));
}

/** Removes the request file; false when it was gone already. */
export async function removeRequest(files: ExecutionFiles): Promise<boolean> {
  return removed(requestPath(files));
}

/** Whether the request is still there. */
export async function isRequestThere(files: ExecutionFiles): Promise<boolean> {
  return isThere(requestPath(files));
}

/** Removes what an ended execution left: the request before the result, so that a client never finds a request answered already. */
export async function removeFiles(files: ExecutionFiles, claim: Claim, { keepAnswer = false } = {}): Promise<void> {
  await removeRequest(files);
  await removed(withdrawnPath(files));
  if (!keepAnswer) await removeAnswer(files);
  if (claim.madeDirectory) await removeIfNobodyCame(files.directory);
}

export async function removeTemporary({ directory }: ExecutionFiles, temporary: string): Promise<void> {
  await removed(join(directory, temporary));
}

/** Whether the mark is still there. Clients delete their requests only; whoever removes a directory removes the mark with it. */
export async function isMarkThere(files: ExecutionFiles): Promise<boolean> {
  return isThere(openPath(files));
}

export async function removeOpenMark(files: ExecutionFiles): Promise<void> {
  await removed(openPath(files));
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
export async function removeIfLeft({ directory }: ExecutionFiles, registration: string): Promise<void> {
  const left = await access(registration).then(
    () => false,
    (error) => errnoOf(error) === 'ENOENT',
  );
  if (left) await rmdir(directory).catch(unless('ENOENT', 'ENOTEMPTY', 'EEXIST'));
}

/** A client may have put anything where its result belongs, even a directory. */
export async function removeAnswer(files: ExecutionFiles): Promise<void> {
  const path = resultPath(files);
  await removed(path).catch(() => rm(path, { recursive: true, force: true }));
}

/** Somebody picked up from a directory we made: from now on it is a client's. */
export async function keepDirectory(directory: string): Promise<void> {
  await removed(join(directory, MADE_BY_US));
}

async function isThere(path: string): Promise<boolean> {
  return inDirectory(dirname(path), () => access(path)).then(
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

import { join } from 'node:path';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { random } from '../../../shared/seams/random.ts';
import { time } from '../../../shared/seams/time.ts';
import { privateDirectory } from '../file-names.ts';
import { mkdir, readFile, rename, writeFile } from '../seams/files.ts';

/** A file that was not there, on the disk before it counts as written. */
const NEW = { flag: 'wx', flush: true };

/** Why a worker may not take jobs, in one sentence with the way out. It goes out over HTTP, so it names no path. */
export class UnusableSharedDirectory extends Error {}

/** The id of a shared directory, in a file of it; undefined while it has none. */
export async function readId(sharedDir: string): Promise<string | undefined> {
  return (await readFile(idPath(sharedDir)).catch(unless('ENOENT')).catch(notUsable))?.trim() || undefined;
}

/** Gives the directory an id unless another worker was first, and resolves to the one it has. */
export async function createId(sharedDir: string): Promise<string | undefined> {
  await mkdir(privateDirectory(sharedDir), { mode: 0o700 }).catch(unless('EEXIST')).catch(notUsable);
  await writeFile(idPath(sharedDir), random.uuid(), NEW).catch(unless('EEXIST')).catch(notUsable);
  const id = await readSoon(sharedDir);
  if (id) return id;
  // It is empty: the machine went down while it was written.
  const own = `${idPath(sharedDir)}.${random.uuid()}`;
  await writeFile(own, random.uuid(), NEW).catch(notUsable);
  await rename(own, idPath(sharedDir)).catch(notUsable);
  return readSoon(sharedDir);
}

/** Another worker may have been first and be in the middle of writing. */
async function readSoon(sharedDir: string): Promise<string | undefined> {
  for (let look = 0; look < 20; look++) {
    const id = await readId(sharedDir);
    if (id) return id;
    await time.pause(50);
  }
  return undefined;
}

export function notUsable(error: unknown): never {
  throw new UnusableSharedDirectory(
    `SHARED_DIR cannot be used (${errnoOf(error)}): let this worker's user read and write it`,
  );
}

function idPath(sharedDir: string): string {
  return join(privateDirectory(sharedDir), 'id');
}

import { join } from 'node:path';
import { errnoOf, unless } from '../../../shared/runtime/errno.ts';
import { random } from '../../../shared/seams/random.ts';
import { time } from '../../../shared/seams/time.ts';
import type { RegisteredDirectory } from '../../../shared/store/registered-directory.ts';
import { privateDirectory } from '../file-names.ts';
import { mkdir, readFile, rename, writeFile } from '../seams/files.ts';

/** A file that was not there, on the disk before it counts as written. */
const NEW = { flag: 'wx', flush: true };

/** Why a worker may not take jobs, in one sentence with the way out. It goes out over HTTP, so it names no path. */
export class UnusableSharedDirectory extends Error {}

export type IdentityOptions = {
  sharedDir: string;
  registered: RegisteredDirectory;
  /** The queue knew of no directory, and this one had no identity: it has one now. */
  onNewIdentity?: (id: string) => void;
};

/** Whether the shared directory is the one that the workers of the queue use: an unmounted volume looks like an empty directory. */
export function createIdentity({ sharedDir, registered, onNewIdentity = () => {} }: IdentityOptions) {
  let ownId: string | undefined;

  function notTheSame(found: string | undefined, right: string | undefined): UnusableSharedDirectory {
    const what = found === undefined ? 'it has no identity, like an empty mount point' : `this is ${found}`;
    return new UnusableSharedDirectory(
      `SHARED_DIR is not the directory that the workers of this queue use (${right}): ${what}. Mount the right one, and this worker goes on by itself; to use this one from now on, ${registered.toReplace}`,
    );
  }

  return {
    /** Throws unless it is. The first worker of a queue makes an identity where there is none. */
    async check(): Promise<void> {
      const found = await readId(sharedDir);
      const known = await registered.get();
      const id = found ?? (known === null && ownId === undefined ? await createId(sharedDir) : undefined);
      // If the queue store lost its data, a worker registers only the directory that was the right one before.
      const mayRegister = id !== undefined && (ownId ?? id) === id;
      const right = known ?? (mayRegister ? await registered.register(id) : ownId);
      if (id === undefined || id !== right) throw notTheSame(found, right);
      ownId = id;
      if (found === undefined) onNewIdentity(id);
    },
    /** Whether it is the one of the last check that passed. */
    isOwn: async (): Promise<boolean> => ownId !== undefined && (await readId(sharedDir)) === ownId,
  };
}

/** The id of a shared directory, in a file of it; undefined while it has none. */
async function readId(sharedDir: string): Promise<string | undefined> {
  return (await readFile(idPath(sharedDir)).catch(unless('ENOENT')).catch(notUsable))?.trim() || undefined;
}

/** Gives the directory an id unless another worker was first, and resolves to the one it has. */
async function createId(sharedDir: string): Promise<string | undefined> {
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

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import { createFileClock } from './file-clock.ts';
import { MADE_BY_US, mockDirectory, privateDirectory } from './file-names.ts';
import { within } from './real-directory.ts';

/** Workers on one queue must share one directory; the last to leave frees the queue for another one after this long. */
const IDENTITY_KEPT_SECONDS = 60;

/** A client's directory that was looked at is taken to be still there, and still no link, for this long. */
const CHECKED_FOR_MS = 500;
const MAX_CHECKED = 10_000;
/** Other servers remove empty directories, also one that was made this moment. */
const MAKE_AT_MOST = 5;

/** Everything else is below one of these: removing, claiming and keeping answers go through them without a look at each path. */
const NEVER_LINKS = ['.rule-server', '.rule-server/claims', '.rule-server/answers', '.rule-server/clocks', 'mock'];
/** Where a worker must be able to write; what is not there yet it makes. */
const WRITTEN = ['.rule-server', '.rule-server/claims', '.rule-server/answers', 'mock'];
/** A full disk is full for every worker: the answer to a call says so, and as soon as there is room it goes on. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Why a worker may not take jobs, in one sentence with the way out. It goes out over HTTP, so it names no path. */
export class UnusableSharedDirectory extends Error {}

/** Something in the way of a path below the shared directory: a link, a file where a directory belongs. */
export class ForeignPath extends Error {}

/** The shared directory itself: whether it is the right one, what time it thinks it is, and directories for clients. */
export function createSharedDirectory({ sharedDir, store }: { sharedDir: string; store: Store }) {
  const idPath = join(privateDirectory(sharedDir), 'id');
  const clock = createFileClock(sharedDir);
  const checked = new Map<string, number>();
  let ownId: string | undefined;

  async function readId(): Promise<string | undefined> {
    return (await readFile(idPath, 'utf8').catch(unless('ENOENT')).catch(notUsable))?.trim() || undefined;
  }

  function notUsable(error: unknown): never {
    throw new UnusableSharedDirectory(
      `SHARED_DIR cannot be used (${errnoOf(error)}): let this worker's user read and write it`,
    );
  }

  async function refuseLinks(): Promise<void> {
    for (const name of NEVER_LINKS) {
      const found = await lstat(join(sharedDir, name)).catch(unless('ENOENT', 'ENOTDIR')).catch(notUsable);
      if (!found?.isSymbolicLink()) continue;
      throw new UnusableSharedDirectory(
        `SHARED_DIR/${name} is a link, and nothing below SHARED_DIR may be one: put a directory in its place`,
      );
    }
  }

  /** Tries it out, since rights can be missing or the mount can be read-only for this worker alone. */
  async function refuseUnwritable(): Promise<void> {
    await clock.touch().catch((error) => void (FULL.has(errnoOf(error)) || notWritable('.rule-server', error)));
    for (const name of WRITTEN) {
      const mayWrite = access(join(sharedDir, name), constants.W_OK | constants.X_OK);
      await mayWrite.catch(unless('ENOENT')).catch((error) => notWritable(name, error));
    }
  }

  function notWritable(name: string, error: unknown): never {
    throw new UnusableSharedDirectory(
      `SHARED_DIR/${name} cannot be written by this worker (${errnoOf(error)}): give its user the right to, or mount it writable`,
    );
  }

  async function createId(): Promise<string | undefined> {
    await mkdir(privateDirectory(sharedDir)).catch(unless('EEXIST')).catch(notUsable);
    await writeFile(idPath, randomUUID(), { flag: 'wx' }).catch(unless('EEXIST')).catch(notUsable);
    // Another worker may have been first and be in the middle of writing.
    for (let look = 0; look < 20; look++) {
      const id = await readId();
      if (id) return id;
      await setTimeout(50);
    }
    return undefined;
  }

  return {
    sharedDir,

    /** The time by its file system. */
    clock,

    /**
     * Throws `UnusableSharedDirectory` unless this is the directory that the queue's other workers use, and this one may
     * write it. Also keeps it registered, so call it every few seconds.
     */
    async check(): Promise<void> {
      const found = await stat(sharedDir).catch((error) => {
        throw new UnusableSharedDirectory(`SHARED_DIR cannot be used (${errnoOf(error)}): create or mount it`);
      });
      if (!found.isDirectory()) throw new UnusableSharedDirectory(`SHARED_DIR is not a directory`);
      await refuseLinks();
      const id = (await readId()) ?? (ownId === undefined ? await adoptOrCreate() : undefined);
      if (id === undefined || (ownId !== undefined && id !== ownId)) {
        throw new UnusableSharedDirectory(
          `SHARED_DIR is no longer the directory this worker started with (${ownId}): is it still mounted? If it was replaced on purpose, restart the workers`,
        );
      }
      const registered = await store.hold('shared-dir', id, IDENTITY_KEPT_SECONDS);
      if (registered !== id) {
        throw new UnusableSharedDirectory(
          `SHARED_DIR (${id}) is not the directory the other workers of this queue use (${registered}): give all of them the same one, or wait ${IDENTITY_KEPT_SECONDS} s after the last of them stopped`,
        );
      }
      ownId = id;
      await refuseUnwritable();
    },

    /** Whether the directory this worker started with is there. While it is not, nothing that is missing means anything. */
    async isThere(): Promise<boolean> {
      const id = await refuseLinks()
        .then(readId)
        .catch(() => undefined);
      return ownId !== undefined && id === ownId;
    },

    /** Something was missing in a directory that was there a moment ago: look again the next time. */
    forget: (path: string) => void checked.delete(path),

    /**
     * The mock directory of a client, made when it is missing. Throws `ForeignPath` when a link stands anywhere below the
     * shared directory: nothing outside may be written through a request.
     */
    async clientDirectory(
      app: number,
      directoryName: string,
      { mark = false } = {},
    ): Promise<{ path: string; made: boolean }> {
      const path = join(mockDirectory(sharedDir, app), directoryName);
      if (Date.now() - (checked.get(path) ?? 0) < CHECKED_FOR_MS) return { path, made: false };
      if (await isRealDirectory(sharedDir, path)) {
        if (checked.size >= MAX_CHECKED) checked.clear();
        checked.set(path, Date.now());
        return { path, made: false };
      }
      for (let attempt = 0; attempt < MAKE_AT_MOST; attempt++) {
        await makeDirectory(dirname(dirname(path)));
        await makeDirectory(dirname(path));
        const made = await makeDirectory(path);
        if (made && mark) await within(path, (real) => writeFile(join(real, MADE_BY_US), ''));
        if (await isRealDirectory(sharedDir, path)) return { path, made };
      }
      throw new ForeignPath(`${path} is not a directory of its own`);
    },
  };

  async function adoptOrCreate(): Promise<string | undefined> {
    const others = await store.get('shared-dir');
    if (others === null) return createId();
    throw new UnusableSharedDirectory(
      `SHARED_DIR is new, but the other workers of this queue use another one (${others}): is it mounted? Give all of them the same one, or wait ${IDENTITY_KEPT_SECONDS} s after the last of them stopped`,
    );
  }

  /** Clients run under other users: what we make is as open as `mock/` itself, whatever the umask says. */
  async function makeDirectory(path: string): Promise<boolean> {
    try {
      await mkdir(path);
    } catch (error) {
      if (errnoOf(error) === 'EEXIST') return false;
      throw error;
    }
    const { mode } = await stat(join(sharedDir, 'mock'));
    await within(path, (real) => chmod(`${real}/.`, mode & 0o7777));
    return true;
  }
}

export type SharedDirectory = ReturnType<typeof createSharedDirectory>;

/** Whether a path exists as a directory reached without a link below the shared directory. */
export async function isRealDirectory(sharedDir: string, path: string): Promise<boolean> {
  const [real, root] = await Promise.all([
    realpath(path).catch(unless('ENOENT', 'ENOTDIR', 'ELOOP')),
    realpath(sharedDir),
  ]);
  if (real === undefined) return false;
  if (real !== join(root, path.slice(sharedDir.length))) throw new ForeignPath(`${path} leads elsewhere, to ${real}`);
  return (await stat(real)).isDirectory();
}

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this test run may mount file systems: as root on Linux, outside of an unprivileged container. */
export const canMount = await works(mountTemporary('64k'));

/** Whether changes that are made behind a mount can be had: FUSE, and bindfs to use it. */
export const canMountDeaf = await works(mountDeaf());

/** Whether a process can be given inotify limits of its own: a user namespace. */
export const canLimitInotify = await run('unshare', ['--user', '--map-root-user', 'true']).then(
  () => true,
  () => false,
);

export type Mount = { path: string; [Symbol.asyncDispose](): Promise<void> };

/** A file system of its own in memory, of at most `size` (as mount takes it); at `at` when that is given. */
export async function mountTemporary(size: string, at?: string): Promise<Mount> {
  const path = at ?? (await mkdtemp(join(tmpdir(), 'rule-server-')));
  return mounted(path, ['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
}

/** The same directory under two paths, as on a network file system: no event at `path` tells what happens at `behind`. */
export async function mountDeaf(): Promise<Mount & { behind: string }> {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const behind = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const mount = await mounted(path, ['bindfs', behind, path]);
  return { ...mount, behind, [Symbol.asyncDispose]: () => mount[Symbol.asyncDispose]().then(() => removed(behind)) };
}

/** A directory that is mounted at a path, and can be unmounted from there while somebody uses it. */
export async function mountBound(): Promise<
  Mount & { behind: string; mount(): Promise<void>; unmount(): Promise<void> }
> {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const behind = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(behind, 'mock'));
  const mount = async () => void (await run('mount', ['--bind', behind, path]));
  const unmount = async () => void (await run('umount', ['--lazy', path]));
  await mount();
  return {
    path,
    behind,
    mount,
    unmount,
    async [Symbol.asyncDispose]() {
      await unmount().catch(() => {});
      await removed(path);
      await removed(behind);
    },
  };
}

/** Changes how a file system is mounted, such as `ro` and `rw`. */
export async function remount(path: string, option: string): Promise<void> {
  await run('mount', ['-o', `remount,${option}`, path]);
}

function works(mounting: Promise<Mount>): Promise<boolean> {
  return mounting.then(
    async (mount) => {
      await mount[Symbol.asyncDispose]();
      return true;
    },
    () => false,
  );
}

async function mounted(path: string, [program = '', ...parameters]: string[]): Promise<Mount> {
  try {
    await run(program, parameters);
  } catch (error) {
    await removed(path);
    throw error;
  }
  return {
    path,
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', path]);
      await removed(path);
    },
  };
}

function removed(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}

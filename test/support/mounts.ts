import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Interruptible, type Mount, mounted, removed, type TwoSided, works } from './mounting.ts';

const run = promisify(execFile);
const SFTP_SERVER = '/usr/lib/openssh/sftp-server';

/** Whether this test run may mount file systems: as root on Linux, outside of an unprivileged container. */
export const canMount = await works(mountTemporary('64k'));

/** Whether changes that are made behind a mount can be had: FUSE, and bindfs to use it. */
export const canMountDeaf = await works(mountDeaf());

/** Whether a network file system can be had: sshfs, and the server of OpenSSH that it speaks to. */
export const canMountNetwork = await works(mountNetwork());

/** Whether a process can be given inotify limits of its own: a user namespace. */
export const canLimitInotify = await run('unshare', ['--user', '--map-root-user', 'true']).then(
  () => true,
  () => false,
);

/** A file system of its own in memory, of at most `size` (as mount takes it); at `at` when that is given. */
export async function mountTemporary(size: string, at?: string): Promise<Mount> {
  const path = at ?? (await mkdtemp(join(tmpdir(), 'rule-server-')));
  return mounted(path, ['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path]);
}

/** The same directory under two paths, as on a network file system: no event at `path` tells what happens at `behind`. */
export async function mountDeaf(): Promise<TwoSided> {
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

/** A directory at a second path, which `remount` can make read-only there alone (`bind,ro`). */
export async function mountAgain(directory: string): Promise<Mount> {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  return mounted(path, ['mount', '--bind', directory, path]);
}

export type NetworkMount = Interruptible & Record<'cutOff' | 'hang' | 'goOn', () => Promise<void>>;

/**
 * The same directory under two paths, one of them over sshfs (`at`, when that is given): what is done at `behind` is what another machine does.
 * `cutOff`: the connection breaks; the next operation opens another one. `hang`: no operation ends any more until
 * `goOn`. `goAway`: there is no server until `comeBack`.
 */
export async function mountNetwork(options: string[] = [], at?: string): Promise<NetworkMount> {
  const path = at ?? (await mkdtemp(join(tmpdir(), 'rule-server-')));
  const behind = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const home = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const [server, pid, away] = [join(home, 'server'), join(home, 'pid'), join(home, 'away')];
  await mkdir(join(behind, 'mock'));
  await writeFile(
    server,
    `#!/bin/sh\n[ -e ${away} ] && exit 1\necho $$ > ${pid}.new\nmv ${pid}.new ${pid}\nexec ${SFTP_SERVER}\n`,
    {
      mode: 0o755,
    },
  );
  const all = [`ssh_command=${server}`, 'reconnect', ...options].flatMap((option) => ['-o', option]);
  const signal = async (name: NodeJS.Signals) => {
    const server = Number(await readFile(pid, 'utf8'));
    // A signal to process 0 would go to this whole test run.
    if (!(server > 0)) throw new Error(`${pid} names no process`);
    process.kill(server, name);
  };
  const mount = await mounted(path, ['sshfs', ...all, `there:${behind}`, path]);
  return {
    ...mount,
    behind,
    cutOff: () => signal('SIGKILL'),
    hang: () => signal('SIGSTOP'),
    goOn: () => signal('SIGCONT'),
    goAway: () => writeFile(away, '').then(() => signal('SIGKILL')),
    comeBack: () => removed(away),
    [Symbol.asyncDispose]: async () => {
      await signal('SIGKILL').catch(() => {}); // one that hangs would stay
      await mount[Symbol.asyncDispose]();
      await removed(behind);
      await removed(home);
    },
  };
}

/** Changes how a file system is mounted, such as `ro` and `rw`. */
export async function remount(path: string, option: string): Promise<void> {
  await run('mount', ['-o', `remount,${option}`, path]);
}

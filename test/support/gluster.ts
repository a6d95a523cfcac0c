import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { clientVolume, serverVolume } from './gluster-volumes.ts';
import { type Interruptible, mounted, removed, whenThisEnds } from './mounting.ts';

const STARTS_WITHIN_MS = 20_000;

/**
 * A volume of GlusterFS, mounted twice as two machines would: at `path`, and at `behind`. Each has caches of its own. With more
 * bricks than one the name of a file decides in which it lies, so most renames lead to another one.
 */
export async function mountGluster({ bricks: count = 1 } = {}): Promise<Interruptible> {
  const home = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const [volume, log] = [join(home, 'server.vol'), join(home, 'log')];
  const bricks = Array.from({ length: count }, (_, index) => join(home, `brick-${index}`));
  const port = await freePort();
  for (const brick of bricks) await mkdir(brick);
  await writeFile(volume, serverVolume({ bricks, port }));
  await writeFile(join(home, 'client.vol'), clientVolume({ bricks, port }));
  await using failed = new AsyncDisposableStack();
  failed.defer(() => removed(home));
  let server = await startServer(volume, log);
  failed.defer(() => killed(server));
  const path = failed.use(await mountedVolume(home));
  const behind = failed.use(await mountedVolume(home));
  await mkdir(join(path.path, 'mock'));
  const mount = failed.move();
  return {
    path: path.path,
    behind: behind.path,
    goAway: () => killed(server),
    async comeBack() {
      server = await startServer(volume, log);
    },
    [Symbol.asyncDispose]: () => mount.disposeAsync(),
  };
}

async function startServer(volume: string, log: string): Promise<ChildProcess> {
  const server = spawn('glusterfsd', ['--no-daemon', '-f', volume, '-l', log], { stdio: 'ignore' });
  await once(server, 'spawn');
  const takeBack = whenThisEnds(['kill', '-KILL', String(server.pid)]);
  server.once('exit', takeBack);
  return server;
}

async function killed(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
}

/** Resolves once the server answers: a mount is there before its connection. */
async function mountedVolume(home: string) {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const mount = await mounted(path, ['glusterfs', '-f', join(home, 'client.vol'), '-l', join(home, 'log'), path]);
  const until = performance.now() + STARTS_WITHIN_MS;
  while (!(await isServed(path))) {
    if (performance.now() > until) {
      await mount[Symbol.asyncDispose]();
      throw new Error(`no GlusterFS at ${path} within ${STARTS_WITHIN_MS} ms`);
    }
    await sleep(20);
  }
  return mount;
}

function isServed(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    () => false,
  );
}

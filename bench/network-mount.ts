import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mountGluster } from '../test/support/gluster.ts';

const SFTP_SERVER = '/usr/lib/openssh/sftp-server';
/** sftp-server logs each request under its number, and what it answered. */
const REQUEST = /request \d+: (?!sent )([\w-]+)/;

/** `delayMs` is added to each request. */
type Sshfs = { options: string[]; delayMs: number };

/** How `SHARED_DIR` is mounted. `pollMs`: how often the client at the other side looks, besides what events tell it. */
export type Mount = { name: string; pollMs: number; open: () => Promise<Awaited<ReturnType<typeof mountNetwork>>> };

const runs = (program: string) => process.getuid?.() === 0 && spawnSync(program, ['--version']).status === 0;
export const canMountNetwork = existsSync(SFTP_SERVER) && runs('sshfs');
export const canMountGluster = runs('glusterfsd');

export function overSshfs(name: string, how: Partial<Sshfs> = {}): Mount {
  return { name, pollMs: 1000, open: () => mountNetwork(how) };
}

/** A volume at two mounts: no event reaches either. Nobody counts what goes over its connections. */
export const overGluster: Mount = {
  name: 'GlusterFS, mounted twice',
  pollMs: 5,
  open: async () => Object.assign(await mountGluster(), { requests: async () => new Map() }),
};

/**
 * A directory over sshfs at `path`, and at `behind`, where it lies, as the other machine sees it. `requests` counts what went over the
 * connection so far, by kind.
 */
export async function mountNetwork({ options = [], delayMs = 0 }: Partial<Sshfs> = {}) {
  const home = await mkdtemp(join(tmpdir(), 'rule-server-bench-'));
  const [path, behind, log] = [join(home, 'mount'), join(home, 'behind'), join(home, 'requests')];
  await mkdir(path);
  await mkdir(join(behind, 'mock'), { recursive: true });
  const server = join(home, 'server');
  const delayed = `python3 "${fileURLToPath(new URL('./delayed-pipe.py', import.meta.url))}" ${delayMs}`;
  await writeFile(
    server,
    `#!/bin/sh\nexec ${delayMs > 0 ? `${delayed} ` : ''}${SFTP_SERVER} -e -l DEBUG3 2>>"${log}"\n`,
    { mode: 0o755 },
  );
  const all = [`ssh_command=${server}`, ...options].flatMap((option) => ['-o', option]);
  await run('sshfs', [...all, `there:${behind}`, path]);
  return {
    path,
    behind,
    async requests(): Promise<Map<string, number>> {
      const counts = new Map<string, number>();
      for (const line of (await readFile(log, 'utf8')).split('\n')) {
        const [, kind] = REQUEST.exec(line) ?? [];
        if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return counts;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await run('umount', ['--lazy', path]);
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function run(program: string, parameters: string[]): Promise<void> {
  const child = spawn(program, parameters, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

import { exec, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startWholeProcess } from '../support/start-process.ts';

type Places = Record<string, string>;

const execute = promisify(exec);
const ROOT = join(import.meta.dirname, '../..');

describe('a service that is started by hand or by a supervisor', () => {
  it.each([
    ['api', 'PORT'],
    ['worker', 'WORKER_PORT'],
  ])('%s: a port that is in use is said in one sentence, and ends it with 1', async (role, setting) => {
    const taken = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void taken.close());
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { child, output } = await run(process.execPath, ['bin/rule-server.js', role], { [setting]: String(port) });
    expect(await ended(child)).toBe(1);
    expect(output.stderr).toBe(
      `Port ${port} on 127.0.0.1 is in use: stop what listens there, or choose another PORT or WORKER_PORT.\n`,
    );
  });

  it.each(['api', 'worker', 'all'])(
    '%s: a SIGTERM that comes while it starts stops it, once it has started',
    async (role) => {
      const environment = { RESULT_TIMEOUT: '5', WORKER_PORT: '0', LOG_LEVEL: 'info' };
      const { child, output } = await run(process.execPath, ['bin/rule-server.js', role], environment);
      // Said before anything else is loaded.
      await vi.waitUntil(() => output.stdout.includes('did you mean RESULT_TIMEOUT_MS?'), {
        timeout: 60_000,
        interval: 1,
      });
      child.kill('SIGTERM');
      expect(await ended(child)).toBe(0);
      expect(output.stdout).toMatch(/"stopping"[\s\S]*"stopped"\}\n$/);
      expect(output.stderr).toBe('');
    },
  );

  it('a SIGTERM that npm gets reaches the service, which stops', async () => {
    const { child, output } = await run('npm', ['run', '-s', 'worker'], { LOG_LEVEL: 'info' });
    const pid = () => Number(/"pid":(\d+)/.exec(output.stdout)?.[1] ?? 0);
    await vi.waitUntil(() => output.stdout.includes('the worker runs'), { timeout: 60_000 });
    child.kill('SIGTERM');
    await vi.waitUntil(() => !isAlive(pid()), { timeout: 60_000 });
    expect(output.stdout).toMatch(/"stopping"[\s\S]*"stopped"\}\n$/);
  });

  it.each([
    ['cannot be made', (): Places => ({ NODE_COMPILE_CACHE: join(ROOT, 'package.json') })],
    ['another user names', (other: string): Places => ({ HOME: other, XDG_CACHE_HOME: other })],
  ])('compiled code is not kept where a folder %s, and the program runs all the same', async (_, places) => {
    const other = await mkdtemp(join(tmpdir(), 'rule-server-'));
    const { child, output } = await run(process.execPath, ['bin/rule-server.js', 'help'], places(other));
    expect(await ended(child)).toBe(0);
    expect(output.stdout).toMatch(/^Usage: rule-server/);
    expect(await readdir(other)).toEqual([]);
  });

  it('the program may be executed as it is, so that npx need not change it', async () => {
    expect((await stat(join(ROOT, 'bin/rule-server.js'))).mode & 0o111).toBe(0o111);
  });
});

async function run(program: string, parameters: string[], environment: Record<string, string>) {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const output = { stdout: '', stderr: '' };
  const child = spawn(program, parameters, {
    cwd: ROOT,
    env: { ...process.env, PORT: '0', SHARED_DIR: sharedDir, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (data) => {
    output.stdout += data;
  });
  child.stderr.on('data', (data) => {
    output.stderr += data;
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    const pid = Number(/"pid":(\d+)/.exec(output.stdout)?.[1] ?? 0);
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  return { child, output };
}

async function ended(child: ReturnType<typeof spawn>): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the commands that a start prints', () => {
  it.each([
    { what: 'with a directory that has a name of several words', key: undefined },
    { what: 'with keys', key: 'the-key-of-this-test-of-starting' },
  ])(
    'work as they are printed: $what',
    async ({ key }) => {
      const folder = await mkdtemp(join(tmpdir(), 'rule-server-'));
      const sharedDir = join(folder, "my team's rules");
      await mkdir(sharedDir);
      const settings = { ...(key && { API_KEYS: `ada:${key}` }) };
      await using service = await startWholeProcess({ sharedDir, port: await freePort(), settings });
      const [client, call] = await eventually(() => {
        const printed = service.noise.filter((line) => /npx |curl /.test(line)).map((line) => line.trim());
        expect(printed).toHaveLength(2);
        return printed;
      });
      const environment = { ...process.env, SHARED_DIR: undefined, RULE_SERVER_KEY: key };
      const demo = spawn(client ?? '', { shell: true, cwd: ROOT, env: environment, detached: true, stdio: 'ignore' });
      try {
        await eventually(async () => {
          const { stdout } = await execute(call ?? '', { env: environment });
          expect(JSON.parse(stdout)).toMatchObject({ success: true });
        }, 60_000);
      } finally {
        process.kill(-(demo.pid ?? 0));
      }
    },
    90_000,
  );
});

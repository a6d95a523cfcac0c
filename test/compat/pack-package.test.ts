import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
let checkout: string;
const git = async (...parameters: string[]) => (await run('git', parameters, { cwd: checkout })).stdout.trim();
const pack = async () => {
  const program = [join(checkout, 'bin/pack-package.js'), 'client', join(checkout, 'out')];
  return basename((await run(process.execPath, program)).stdout.trim());
};

beforeAll(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'rule-server-pack-'));
  for (const folder of ['bin', 'out', 'packages/rule-server-client'])
    await mkdir(join(checkout, folder), { recursive: true });
  for (const name of ['pack-package.js', 'package-readme.js'])
    await copyFile(join(import.meta.dirname, '../../bin', name), join(checkout, 'bin', name));
  const manifest = { name: 'rule-server-client', version: '0.2.0', type: 'module' };
  for (const folder of ['.', 'packages/rule-server-client'])
    await writeFile(join(checkout, folder, 'package.json'), JSON.stringify(manifest));
  const client = join(checkout, 'packages/rule-server-client');
  await mkdir(join(client, 'dist/console/docs'), { recursive: true });
  for (const path of ['LICENSE', 'dist/console/docs/start.md']) await writeFile(join(client, path), '');
  const links = '[a](docs/start.md#b) [c](LICENSE) [d](https://e) [f](CONTRIBUTING.md) ![g](docs/images/g.png)[h](#i)';
  await writeFile(join(client, 'README.md'), links);
  await writeFile(join(checkout, '.gitignore'), 'out\n');
  await git('init', '-q');
  await git('add', '-A');
  await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first');
});

it('each state of the sources is packed under a version of its own, and the checkout stays as it is', async () => {
  const commit = await git('rev-parse', '--short=8', 'HEAD');
  expect(await pack()).toBe(`rule-server-client-0.3.0-dev.1.g${commit}.tgz`);
  expect(await git('status', '--porcelain')).toBe('');
  await writeFile(join(checkout, 'changed'), '1');
  const [one, other] = [await pack(), await pack()];
  expect(one).toMatch(/^rule-server-client-0\.3\.0-dev\.1\.g\w{8}\.changed\.\d+\.tgz$/);
  expect(other).not.toBe(one);
  await rm(join(checkout, 'changed'));
  await git('tag', 'v0.2.0');
  expect(await pack()).toBe('rule-server-client-0.2.0.tgz');
});

it('every link of the README in a package leads somewhere', async () => {
  const { stdout } = await run('tar', ['-xzOf', join(checkout, 'out', await pack()), 'package/README.md']);
  expect(stdout).toBe('[a](dist/console/docs/start.md#b) [c](LICENSE) [d](https://e) f [h](#i)');
});

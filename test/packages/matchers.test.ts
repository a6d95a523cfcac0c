import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildClient } from '../client/support/build-client.ts';
import { compileUsage, matcherDeclarations, matcherUsage } from '../client/support/matcher-types.ts';
import { run } from '../sdks/run.ts';

const root = join(import.meta.dirname, '../..');
const tsc = join(root, 'node_modules/.bin/tsc');
let folder: string;

beforeAll(async () => {
  await buildClient();
  folder = await mkdtemp(join(tmpdir(), 'matchers-'));
});

/** A project of a user with one test runner in it. */
async function projectWith(runner: string): Promise<string> {
  const project = await mkdtemp(join(folder, 'project-'));
  await writeFile(join(project, 'package.json'), '{"type":"module","private":true}');
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await run('npm', ['install', ...quietly, runner, '@types/node@26'], { cwd: project, timeoutMs: 180_000 });
  await mkdir(join(project, 'node_modules'), { recursive: true });
  await symlink(root, join(project, 'node_modules/rule-server'));
  return project;
}

test.each([
  { runner: 'vitest@3', from: 'vitest', types: 'node' },
  { runner: 'vitest@4', from: 'vitest', types: 'node' },
  { runner: 'vitest@5', from: 'vitest', types: 'node' },
  { runner: '@types/jest@30', from: null, types: 'node,jest' },
  { runner: '@jest/globals@30', from: '@jest/globals', types: 'node' },
])(
  'the README says how $runner gets the types of the matchers',
  { timeout: 240_000 },
  async ({ runner, from, types }) => {
    const project = await projectWith(runner);
    const said: string[] = [];
    for (const [index, declaration] of (await matcherDeclarations()).entries()) {
      const path = join(project, `rule-${index}.test.ts`);
      await writeFile(path, `${matcherUsage(from)}${declaration}\n`);
      said.push(await compileUsage(tsc, path, types));
    }
    expect(said).toContain('');
  },
);

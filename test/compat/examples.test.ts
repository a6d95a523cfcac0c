import { copyFile, mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as anywhere from '../../src/client/anywhere.ts';
import * as client from '../../src/client/client.ts';
import * as testing from '../../src/client/testing.ts';
import { run } from '../sdks/run.ts';
import { createRuleFiles } from '../support/rule-files.ts';

const root = join(import.meta.dirname, '../..');
const tsc = join(root, 'node_modules/.bin/tsc');
const FILES = ['client', 'anywhere', 'runs/load-rules', 'leaves/leaf', 'leaves/leaves-for', 'testing'];

/** An example of a function's description, and what it says that it prints. */
type Example = { of: string; code: string; prints: string };
let folder: string;
let examples: Example[];
let files: Awaited<ReturnType<typeof createRuleFiles>>;

/** A project of its own with the package installed, as a user has it. */
beforeAll(async () => {
  examples = (await Promise.all(FILES.map(examplesIn))).flat();
  folder = await mkdtemp(join(await realpath(tmpdir()), 'examples-'));
  const installed = join(folder, 'node_modules/rule-server-client');
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await mkdir(installed);
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  await copyFile(join(root, 'packages/rule-server-client/package.json'), join(installed, 'package.json'));
  await run(tsc, ['-p', 'tsconfig.client.json', '--outDir', join(installed, 'dist')], { cwd: root, timeoutMs: 60_000 });
  for (const name of ['acorn', 'chokidar', 'readdirp', 'undici-types', '@types/node'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  for (const [index, { code }] of examples.entries()) await writeFile(pathOf(index), code);
  files = await createRuleFiles();
  await files.write('{"id":1,"status":1,"confId":1}', 1, 'bases', '1.json');
  await files.write('{"id":1,"status":1,"type":5,"confName":"shop.SpentAtLeast"}', 1, 'confs', '1.json');
});
afterAll(() => files.remove());

const pathOf = (index: number) => join(folder, `example-${index}.ts`);

async function examplesIn(name: string): Promise<Example[]> {
  const text = await readFile(join(root, 'src/client', `${name}.ts`), 'utf8');
  const blocks = text.matchAll(/@example\n \* ```ts\n(.*?) \* ```\n.*?export (?:async )?(?:function|const) (\w+)/gs);
  return [...blocks].map(([, block = '', of = '']) => {
    const code = block.replace(/^ \* ?/gm, '');
    const prints = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, printed]) => `${printed}\n`).join('');
    return { of: `${name} ${of}`, code, prints };
  });
}

test('every function and object that the package exports has one', () => {
  const described = new Set(examples.map(({ of }) => of));
  const missing = [
    ...Object.keys(client).map((name) => ({
      name,
      in: ['client', 'runs/load-rules', 'leaves/leaf', 'leaves/leaves-for'],
    })),
    ...Object.keys(anywhere).map((name) => ({ name, in: ['anywhere', 'leaves/leaf', 'leaves/leaves-for'] })),
    ...Object.keys(testing).map((name) => ({ name, in: ['testing'] })),
  ].filter(({ name, in: places }) => !places.some((place) => described.has(`${place} ${name}`)));
  expect(missing).toEqual([]);
  expect(examples.length).toBeGreaterThanOrEqual(8);
});

test('they compile, strictly', async () => {
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const paths = examples.map((_, index) => pathOf(index));
  await run(tsc, [...options, '--ignoreConfig', ...paths], { cwd: folder, timeoutMs: 60_000 });
});

test('they run, and print what they say', async () => {
  for (const [index, { of, prints }] of examples.entries()) {
    const env = { ...process.env, SHARED_DIR: files.sharedDir };
    const printed = await run(process.execPath, [pathOf(index)], { cwd: folder, env, timeoutMs: 30_000 });
    expect({ of, printed }).toEqual({ of, printed: prints });
    expect(prints).not.toBe('');
  }
});

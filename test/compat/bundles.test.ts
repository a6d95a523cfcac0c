import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { type BuildOptions, build as esbuild } from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import webpack from 'webpack';
import { until } from '../client/support/client-files.ts';
import { run } from '../sdks/run.ts';
import { createRuleFiles } from '../support/rule-files.ts';

const root = join(import.meta.dirname, '../..');
const packageFolder = join(root, 'packages/rule-server-client');
let project: string;

/** An empty project with the package installed: its own package.json, and its files as they are compiled. */
beforeAll(async () => {
  project = await mkdtemp(join(await realpath(tmpdir()), 'bundles-'));
  const installed = join(project, 'node_modules/rule-server-client');
  await mkdir(installed, { recursive: true });
  await writeFile(join(project, 'package.json'), '{"type":"module","private":true}');
  await writeFile(join(installed, 'package.json'), await readFile(join(packageFolder, 'package.json'), 'utf8'));
  const tsc = join(root, 'node_modules/.bin/tsc');
  await run(tsc, ['-p', 'tsconfig.client.json', '--outDir', join(installed, 'dist')], { cwd: root, timeoutMs: 60_000 });
  for (const name of ['acorn', 'chokidar', 'readdirp'])
    await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name)).catch(() => {});
  await writeFile(join(project, 'service.js'), service);
});

/** Says the rule's result, and every error that the client tells; runs until it is ended. */
const service = `
import { createRuleClient, leavesFor } from 'rule-server-client';
const { flow } = leavesFor();
const client = await createRuleClient({
  app: 1,
  sharedDir: process.env.SHARED_DIR,
  address: 'bundled',
  heartbeatMs: 200,
  leaves: { 'shop.SpentAtLeast': flow({ min: 100 }, (service, { min }) => service.double('cost', 0) >= min) },
  onError: (error) => console.log('onError: ' + error.message),
});
const { outcome } = await client.run({ ruleId: 1, data: { cost: 120 } });
console.log('outcome: ' + outcome);
process.once('SIGTERM', () => client.close());
`;

type Bundler = { bundler: string; bundle: (entry: string, folder: string) => Promise<unknown> };
const esbuildOptions = (entry: string, folder: string): BuildOptions => ({
  entryPoints: [entry],
  outfile: join(folder, 'service.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'silent',
});
const bundlers: readonly Bundler[] = [
  { bundler: 'esbuild', bundle: (entry, folder) => esbuild(esbuildOptions(entry, folder)) },
  {
    bundler: 'esbuild, minified',
    bundle: (entry, folder) => esbuild({ ...esbuildOptions(entry, folder), minify: true }),
  },
  {
    bundler: 'rolldown',
    bundle: (entry, folder) =>
      run(
        join(root, 'node_modules/.bin/rolldown'),
        [entry, '--platform', 'node', '--file', join(folder, 'service.mjs')],
        {
          ...{ cwd: project, timeoutMs: 60_000 },
        },
      ),
  },
  {
    bundler: 'rollup',
    async bundle(entry, folder) {
      const bundle = await rollup({ input: entry, plugins: [nodeResolve()], external: /^node:/, onLog() {} });
      await bundle.write({ file: join(folder, 'service.mjs'), format: 'esm' });
    },
  },
  { bundler: 'webpack', bundle: bundleWithWebpack },
  {
    bundler: 'vite',
    bundle: (entry, folder) =>
      vite({
        ...{ root: project, configFile: false, logLevel: 'silent', ssr: { noExternal: true } },
        build: { ssr: entry, outDir: folder, rollupOptions: { output: { entryFileNames: 'service.mjs' } } },
      }),
  },
];

function bundleWithWebpack(entry: string, folder: string): Promise<void> {
  const compiler = webpack({
    ...{ entry, mode: 'production', target: 'node22', context: project, experiments: { outputModule: true } },
    output: { path: folder, filename: 'service.mjs', module: true, chunkFormat: 'module' },
  });
  return new Promise((resolve, reject) => {
    if (!compiler) return reject(new Error('webpack made no compiler'));
    compiler.run((error, stats) => {
      const errors = stats?.compilation.errors ?? [];
      if (error || errors.length > 0) reject(error ?? errors[0]);
      else resolve();
    });
  });
}

type Ran = { kind: 'works' | 'refused' | 'silent'; said: string };

/** Runs a bundle where nothing but the bundle is, until it has beaten a second time or has ended. */
async function runBundle(folder: string): Promise<Ran> {
  const files = await createRuleFiles();
  await files.write('{"id":1,"status":1,"confId":1}', 1, 'bases', '1.json');
  await files.write('{"id":1,"status":1,"type":5,"confName":"shop.SpentAtLeast"}', 1, 'confs', '1.json');
  const env = { ...process.env, SHARED_DIR: files.sharedDir };
  // A file, not a pipe: Node prints the line that threw, which may be a whole bundle, and a pipe has no room for it.
  const output = await open(join(files.sharedDir, 'output'), 'a');
  const child = spawn(process.execPath, [join(folder, 'service.mjs')], {
    env,
    cwd: folder,
    stdio: ['ignore', output.fd, output.fd],
  });
  const said = () => readFile(join(files.sharedDir, 'output'), 'utf8');
  const ended = new Promise<Ran['kind']>((resolve) => child.once('close', () => resolve('refused')));
  const beats = new Set<string>();
  const beaten = until(async () => {
    beats.add(await readFile(files.pathOf('clients/1/b_bundled.json'), 'utf8').catch(() => ''));
    return [...beats].filter((beat) => beat !== '').length > 1 && (await said()).includes('outcome') ? true : undefined;
  }, 10_000).then(
    (): Ran['kind'] => 'works',
    (): Ran['kind'] => 'silent',
  );
  try {
    const kind = await Promise.race([ended, beaten]);
    return { kind, said: await said() };
  } finally {
    child.kill('SIGKILL');
    await output.close();
    await files.remove();
  }
}

describe('a client in a bundle', () => {
  test.each(bundlers)(
    'runs rules and goes on beating, or does not start and says why in a sentence: $bundler',
    async ({ bundle }) => {
      const folder = await mkdtemp(join(project, 'out-'));
      const built = await bundle(join(project, 'service.js'), folder).then(
        () => '',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      expect(built).toBe('');
      const moved = await mkdtemp(join(tmpdir(), 'bundle-'));
      for (const name of await readdir(folder))
        await run('cp', ['-r', join(folder, name), moved], { timeoutMs: 10_000 });
      const ran = await runBundle(moved);
      const [kind, said] = [
        ran.kind,
        ran.said
          .split('\n')
          .map((line) => line.slice(0, 500))
          .join('\n'),
      ];
      await rm(moved, { recursive: true });
      if (kind === 'refused') {
        expect(said).not.toContain('outcome: TRUE');
        expect(said).toMatch(/(heart-thread|thread).*(bundle|external)|(bundle|external).*thread/i);
        expect(said).not.toContain(root);
        expect(said).not.toContain(project);
      } else expect({ kind, said }).toEqual({ kind: 'works', said: 'outcome: TRUE\n' });
    },
  );
});

describe('a program that imports only leavesFor', () => {
  const only = `import { leavesFor } from 'rule-server-client';
export const { flow } = leavesFor();
export const A = flow({ min: 1 }, (service, { min }) => service.get('a') === min);\n`;

  test.each(['neutral', 'node', 'browser'] as const)('costs less than 1 KB, minified, for %s', async (platform) => {
    await writeFile(join(project, 'only.js'), only);
    const outfile = join(project, `only-${platform}.mjs`);
    await esbuild({
      ...{ entryPoints: [join(project, 'only.js')], outfile, bundle: true, minify: true, format: 'esm', platform },
      ...{ logLevel: 'silent', mainFields: ['module', 'main'] },
      external: ['node:*'],
    });
    expect((await stat(outfile)).size).toBeLessThan(1024);
  });
});

describe('rules of objects, where there is no Node', () => {
  const program = `import { describeLeaf, leavesFor, loadRules } from 'rule-server-client/anywhere';
const { flow } = leavesFor();
class GiveCoupon {
  amount = 10;
  doResult(service) {
    service.put('coupon', this.amount);
    return true;
  }
}
export async function decide(cost) {
  const rules = loadRules(
    {
      rules: [{ id: 1, confId: 1, status: 1, scenes: 'checkout' }],
      nodes: [
        { id: 1, type: 1, sonIds: '2,3' },
        { id: 2, type: 5, confName: 'SpentAtLeast', confField: { min: 100 } },
        { id: 3, type: 6, confName: 'GiveCoupon', confField: { amount: 25 } },
      ],
    },
    {
      leaves: {
        SpentAtLeast: flow({ min: 0 }, async (service, { min }) => service.double('cost', 0) >= min),
        GiveCoupon: describeLeaf({ leaf: GiveCoupon, name: 'Coupon' }),
      },
    },
  );
  const { outcome, data } = await rules.run({ ruleId: 1, data: { uid: 9007199254740993n, cost } });
  const [inScene] = await rules.runScene({ scene: 'checkout', data: { cost: 1 } });
  const { stubbed } = await rules.dryRun({ ruleId: 1, data: { cost } });
  return outcome + ' ' + data.uid + ' ' + data.coupon + ' ' + inScene.outcome + ' ' + stubbed;
}
`;

  test.each(['browser', 'neutral'] as const)(
    'run from a bundle that imports nothing: esbuild for %s',
    async (platform) => {
      await writeFile(join(project, 'anywhere.js'), program);
      const { outputFiles, metafile } = await esbuild({
        ...{ entryPoints: [join(project, 'anywhere.js')], bundle: true, format: 'iife', globalName: 'rules', platform },
        ...{ logLevel: 'silent', write: false, metafile: true, mainFields: ['module', 'main'], minify: true },
      });
      expect(
        Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external)),
      ).toEqual([]);
      const [{ text } = { text: '' }] = outputFiles;
      // A realm of its own: it has JavaScript, and what every browser and edge runtime has, and no process.
      const realm = createContext({ performance, AbortController, setTimeout, clearTimeout, structuredClone, console });
      const said = await runInContext(`${text};rules.decide(120)`, realm);
      expect(said).toBe('TRUE 9007199254740993 25 FALSE GiveCoupon');
      expect(outputFiles[0]?.contents.length).toBeLessThan(200_000);
    },
  );
});

test('both packages say that importing them has no effects', async () => {
  for (const path of ['package.json', 'packages/rule-server-client/package.json']) {
    const manifest: unknown = JSON.parse(await readFile(join(root, path), 'utf8'));
    expect({ path, manifest }).toEqual({ path, manifest: expect.objectContaining({ sideEffects: false }) });
  }
});

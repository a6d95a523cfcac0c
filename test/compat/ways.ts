import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Options as SwcOptions, transform as swc } from '@swc/core';
import { type BuildOptions, build as esbuild } from 'esbuild';
import { tsImport } from 'tsx/esm/api';
import { run } from '../sdks/run.ts';

/** What becomes of the styles on their way to the process that runs them: puts modules into a folder, and says how to import one. */
export type Way = { way: string; build: (folder: string) => Promise<(name: string) => string> };

const root = join(import.meta.dirname, '../..');
const sources = join(root, 'test/client/analyzer/styles');
const modules = ['styles', 'decorated'];

function bundled(way: string, options: BuildOptions): Way {
  const ending = options.format === 'cjs' ? 'cjs' : 'mjs';
  return {
    way,
    async build(folder) {
      await esbuild({
        ...{ entryPoints: modules.map((name) => join(sources, `${name}.ts`)), outdir: folder, bundle: true },
        ...{ platform: 'node', format: 'esm', target: 'es2024', outExtension: { '.js': `.${ending}` } },
        ...options,
      });
      return (name) => join(folder, `${name}.${ending}`);
    },
  };
}

function compiledBySwc(way: string, options: SwcOptions): Way {
  return {
    way,
    async build(folder) {
      for (const name of await readdir(sources)) {
        const { jsc, ...others } = options;
        const parser = { syntax: 'typescript', decorators: true } as const;
        const transform = { decoratorVersion: '2022-03' } as const;
        const { code } = await swc(await readFile(join(sources, name), 'utf8'), {
          ...{ filename: name, swcrc: false, configFile: false, module: { type: 'es6' } },
          ...others,
          jsc: { parser, transform, ...jsc },
        });
        const text = code.replace(/(["']\.\/[\w-]+)\.ts(["'])/g, '$1.mjs$2');
        await writeFile(join(folder, name.replace(/ts$/, 'mjs')), text);
      }
      return (name) => join(folder, `${name}.mjs`);
    },
  };
}

function compiledByTsc(way: string, target: string): Way {
  return {
    way,
    async build(folder) {
      const files = modules.map((name) => join(sources, `${name}.ts`));
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      await run(
        join(root, 'node_modules/.bin/tsc'),
        [
          ...['--outDir', folder, '--rootDir', root, '--target', target, '--lib', 'es2024', '--module', 'nodenext'],
          ...['--rewriteRelativeImportExtensions', '--noCheck', '--types', 'node', '--ignoreConfig', ...files],
        ],
        { cwd: root, timeoutMs: 60_000 },
      );
      return (name) => join(folder, 'test/client/analyzer/styles', `${name}.js`);
    },
  };
}

/** The ways that the documentation names, in its order. */
export const ways: readonly Way[] = [
  bundled('esbuild', {}),
  bundled('esbuild, minified', { minify: true }),
  bundled('esbuild, minified, names kept', { minify: true, keepNames: true }),
  bundled('esbuild for ES2017', { target: 'es2017' }),
  bundled('esbuild to CommonJS', { format: 'cjs' }),
  compiledBySwc('swc', { jsc: { target: 'es2022' } }),
  compiledBySwc('swc, minified', { minify: true, jsc: { target: 'es2022', minify: { compress: true, mangle: true } } }),
  compiledBySwc('swc for ES5', { jsc: { target: 'es5' } }),
  compiledByTsc('tsc', 'es2022'),
  compiledByTsc('tsc for ES2015', 'es2015'),
];

/** tsx compiles what it imports. */
export const importWithTsx = (name: string): Promise<unknown> =>
  tsImport(join(sources, `${name}.ts`), { parentURL: import.meta.url, tsconfig: false });

#!/usr/bin/env node
// Compiles what `npm pack` puts into a package (its prepack script): `server` into dist, with the console; `client` into
// packages/rule-server-client/dist; `cli` into packages/rule-server-cli/dist, as one bundle without dependencies. Node runs the
// sources as they are, but not below node_modules.
import { spawnSync } from 'node:child_process';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const clientFolder = join(root, 'packages/rule-server-client');
const [what] = process.argv.slice(2);
await ({ server: buildServer, client: buildClient, cli: buildCommandLine }[what] ?? usage)();

async function buildServer() {
  const dist = join(root, 'dist');
  for (const name of await readdir(dist).catch(() => [])) {
    if (name !== 'console') await rm(join(dist, name), { recursive: true });
  }
  compile('tsconfig.client.json', '--emitDeclarationOnly');
  compile('tsconfig.build.json');
  await dropUnreachableTypes(dist);
  await indentBySource(dist);
  run(process.execPath, ['bin/build-console.js', '--when-needed']);
}

async function buildClient() {
  const dist = join(clientFolder, 'dist');
  await rm(dist, { recursive: true, force: true });
  compile('tsconfig.client.json', '--outDir', dist, '--emitDeclarationOnly');
  compile('tsconfig.client.json', '--outDir', dist, '--declaration', 'false', '--removeComments');
  await dropUnreachableTypes(dist);
  await indentBySource(dist);
  await cp(join(root, 'LICENSE'), join(clientFolder, 'LICENSE'));
  await cp(join(root, 'src/client/README.md'), join(clientFolder, 'README.md'));
}

async function buildCommandLine() {
  const folder = join(root, 'packages/rule-server-cli');
  const { build } = await import('vite');
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: 'src/cli/command-line.ts',
      target: 'node22',
      outDir: join(folder, 'dist'),
      emptyOutDir: true,
      license: { fileName: 'licenses.md' },
      // All in one folder: its package.json, from which the version comes, is one above.
      rolldownOptions: { output: { chunkFileNames: '[name]-[hash].js' } },
    },
  });
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/**
 * Comments are for who reads the types; in the code they would be a fifth of a package. The code reads as its source does without them, so a
 * stack trace needs no source map.
 */
async function indentBySource(dist) {
  for (const path of await pathsIn(dist, '.js'))
    if (!relative(dist, path).startsWith('console'))
      await writeFile(path, indentedBySource(await readFile(path, 'utf8')));
}

/** By two spaces a level, as the source is; the compiler takes four. A text over several lines must stay as it is. */
function indentedBySource(code) {
  const lines = code.split('\n');
  if (lines.some((line) => (line.match(/`/g) ?? []).length % 2 === 1)) return code;
  return lines.map((line) => line.replace(/^(?: {4})+/, (spaces) => ' '.repeat(spaces.length / 2))).join('\n');
}

/** Types that nothing reaches from the client's own are of no use to anybody. */
async function dropUnreachableTypes(dist) {
  const reached = new Set();
  const next = ['client', 'anywhere', 'testing', 'http'].map((name) => join(dist, `client/${name}.d.ts`));
  for (const path of next) {
    if (reached.has(path)) continue;
    reached.add(path);
    const text = await readFile(path, 'utf8');
    for (const [, from] of text.matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)) {
      next.push(resolve(dirname(path), from.replace(/\.(ts|js)$/, '.d.ts')));
    }
  }
  for (const path of await pathsIn(dist, '.d.ts')) if (!reached.has(path)) await rm(path);
}

async function pathsIn(folder, ending) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name));
}

function compile(project, ...options) {
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, project), ...options]);
}

function run(program, parameters) {
  // Standard output belongs to `npm pack --json`.
  const { status } = spawnSync(program, parameters, { cwd: root, stdio: ['ignore', process.stderr, process.stderr] });
  if (status !== 0) throw new Error(`${relative(root, parameters[0])} ended with ${status}`);
}

function usage() {
  throw new Error('say what to build: server, client or cli');
}

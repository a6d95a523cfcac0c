#!/usr/bin/env node
// Builds the console into dist/console, with the documents beside it. `--when-needed`: only when it is missing or older than its sources, and a build that
// fails is said in one line instead of keeping the service from starting: the service works without its page.
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { writeDocuments } from './documents.js';

const root = join(import.meta.dirname, '..');
const built = join(root, 'dist/console');
const sources = ['src/console', 'src/shared', 'docs', 'README.md', 'package-lock.json'].map((path) => join(root, path));
const whenNeeded = process.argv.includes('--when-needed');

try {
  if (!whenNeeded || (await isNeeded())) await build();
} catch (error) {
  if (!whenNeeded) throw error;
  const reason =
    error.code === 'ERR_MODULE_NOT_FOUND' ? 'its build tools are not installed' : String(error.message).split('\n')[0];
  console.error(
    `The console could not be built (${reason}); the service starts without its page. "npm run build" says more.`,
  );
}

async function isNeeded() {
  const page = await stat(join(built, 'index.html.br')).catch(() => null);
  const changed = await Promise.all(sources.map(newest));
  // Installed without its sources, or built by another version: what is there is what there is.
  return page === null || page.mtimeMs < Math.max(...changed);
}

async function newest(path) {
  const stats = await stat(path).catch(() => null);
  if (!stats?.isDirectory()) return stats?.mtimeMs ?? 0;
  const names = await readdir(path);
  return Math.max(stats.mtimeMs, ...(await Promise.all(names.map((name) => newest(join(path, name))))));
}

/** Builds aside and swaps: a service that starts meanwhile reads one build or the other, and two builds do not mix. */
async function build() {
  const startedAt = performance.now();
  console.log('Building the console, as its sources are newer than its build or there is none.');
  // A test that builds the page gets the page that ships: React has another, larger one for development.
  process.env.NODE_ENV = 'production';
  const { build: viteBuild } = await import('vite');
  const aside = `${built}.${process.pid}`;
  try {
    await viteBuild({ root: join(root, 'src/console'), logLevel: 'warn', build: { outDir: aside } });
    await writeDocuments(root, aside);
    await compressFiles(aside);
    await rm(built, { recursive: true, force: true });
    await rename(aside, built);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  console.log(`The console is built (${((performance.now() - startedAt) / 1000).toFixed(1)} s).`);
}

/** Compressed once here, as well as it goes, instead of at every start of an API. */
async function compressFiles(directory) {
  const names = await readdir(directory, { recursive: true });
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  for (const name of names.filter((name) => /\.(html|js|css|svg|md|txt)$/.test(name))) {
    const path = join(directory, name);
    const body = await readFile(path);
    await writeFile(`${path}.br`, await promisify(brotliCompress)(body, quality));
    await writeFile(`${path}.gz`, await promisify(gzip)(body, { level: 9 }));
  }
}

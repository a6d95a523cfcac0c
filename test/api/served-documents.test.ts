import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { documentsIn, writeDocuments } from '../../bin/documents.js';
import { readConsoleFiles } from '../../src/api/console-files.ts';
import { consoleRoutes } from '../../src/api/routes/pages/console.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
let routes: ReturnType<typeof consoleRoutes>;
let paths: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'documents-'));
  await writeDocuments(root, folder);
  await writeFile(join(folder, 'index.html'), '<!doctype html>');
  await writeFile(join(folder, 'page.js.gz'), gzipSync('page()'));
  routes = consoleRoutes(readConsoleFiles(folder));
  paths = await documentsIn(root);
});

test('every document is served as it is in the repository, as Markdown', async () => {
  expect(paths.filter((path) => path.includes('internals'))).toEqual([]);
  expect(paths).toContain('docs/run/runbook.md');
  for (const path of paths) {
    const answer = await routes.request(`/${path}`);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
      ...[path, 200, 'text/markdown; charset=utf-8'],
    ]);
    expect(await answer.text()).toBe(await readFile(join(root, path), 'utf8'));
  }
});

test('/llms.txt lists each with its title and a sentence, as llmstxt.org says', async () => {
  const answer = await routes.request('/llms.txt');
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await answer.text();
  expect(text).toMatch(/^# Rule server\n\n> Press Run .*\n\n## Documents\n\n- /);
  expect(text).toContain('- [OpenAPI](/openapi.json)');
  const listed = [...text.matchAll(/^- \[(.+)\]\(\/(.+?)\): (.+)$/gm)].map(([, title, path, sentence]) => [
    title,
    path,
    sentence,
  ]);
  expect(listed.map(([, path]) => path).sort()).toEqual([...paths, 'openapi.json'].sort());
  for (const [title, path, sentence] of listed)
    expect([path, title !== '', /\.$/.test(`${sentence}`)]).toEqual([path, true, true]);
});

test('a script that is there compressed alone is served to who takes it so, and to who does not', async () => {
  expect(await (await routes.request('/page.js')).text()).toBe('page()');
  const compressed = await routes.request('/page.js', { headers: { 'accept-encoding': 'gzip' } });
  expect(compressed.headers.get('content-encoding')).toBe('gzip');
  expect(gunzipSync(await compressed.arrayBuffer()).toString()).toBe('page()');
});

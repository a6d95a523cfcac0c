import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wrongDirections, wrongLayers } from '../../lint/check-imports.ts';
import { knownExceptions } from '../../lint/import-map.ts';
import { importsOf, readImports } from '../../lint/read-imports.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the linter refuses', () => {
  it.each([
    ['src/shared/store/a.ts', '../../api/app.ts'],
    ['src/shared/store/a.ts', '../../version.ts'],
    ['src/api/calls/a.ts', '../../worker/worker.ts'],
    ['src/api/calls/a.ts', '../../client/client.ts'],
    ['src/api/calls/a.ts', 'node:fs'],
    ['src/api/calls/a.ts', 'node:fs/promises'],
    ['src/api/calls/a.ts', 'chokidar'],
    ['src/api/console-files.ts', '../worker/worker.ts'],
    ['src/worker/files/a.ts', '../../api/app.ts'],
    ['src/worker/files/a.ts', 'hono'],
    ['src/worker/files/a.ts', 'hono/factory'],
    ['src/worker/files/a.ts', '@hono/node-server'],
    ['src/client/a.ts', '../shared/runtime/settings.ts'],
    ['src/client/a.ts', '../worker/worker.ts'],
    ['src/console/run/a.ts', '../../shared/runtime/settings.ts'],
    ['src/console/run/a.ts', '../../api/app.ts'],
    ['src/console/run/a.ts', 'node:fs'],
    ['src/cli/a.ts', '../api/app.ts'],
    ['src/cli/a.ts', '../worker/worker.ts'],
  ])('%s that imports %s', (from, to) => {
    expect(wrongDirections(importsOf(from, `import type { x } from '${to}';`))).toHaveLength(1);
    expect(wrongDirections(importsOf(from, `const x = await import('${to}');`))).toHaveLength(1);
  });

  it.each([
    ['src/worker/files/a.ts', '../execution/execute.ts'],
    ['src/shared/contract/a.ts', '../store/history.ts'],
    ['src/api/http/a.ts', '../routes/health.ts'],
    ['src/worker/files/a.ts', '../a-new-folder/b.ts'],
  ])('%s that imports %s, a folder that builds on it or that the map does not have', (from, to) => {
    expect(wrongLayers(importsOf(from, `import { x } from '${to}';`))).toHaveLength(1);
  });

  it('files that import each other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rule-server-lint-'));
    try {
      await copyFile(join(ROOT, 'biome.json'), join(folder, 'biome.json'));
      await write(folder, 'src/a.ts', "import { b } from './b.ts';\nexport const a = () => b;\n");
      await write(folder, 'src/b.ts', "import { a } from './a.ts';\nexport const b = () => a;\n");
      const biome = join(ROOT, 'node_modules/.bin/biome');
      const { stdout, stderr } = spawnSync(biome, ['lint', '--vcs-enabled=false', '.'], { cwd: folder });
      expect(`${stdout}${stderr}`).toContain('noImportCycles');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the linter lets pass', () => {
  it.each([
    ['src/api/console-files.ts', 'node:fs'],
    ['src/api/calls/a.ts', '../../shared/store/history.ts'],
    ['src/client/a.ts', '../shared/contract/job.ts'],
    ['src/console/run/a.ts', '../api/executions.ts'],
    ['src/services.ts', './worker/start.ts'],
  ])('%s that imports %s', (from, to) => {
    const imports = importsOf(from, `import { x } from '${to}';`);
    expect([...wrongDirections(imports), ...wrongLayers(imports)]).toEqual([]);
  });

  it('no exception that is gone', async () => {
    const imports = await readImports(ROOT);
    const there = new Set(imports.map(({ from, to }) => `${from} imports ${to}`));
    expect(knownExceptions.filter((exception) => !there.has(exception))).toEqual([]);
  });
});

async function write(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

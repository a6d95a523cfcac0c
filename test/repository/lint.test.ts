import { describe, expect, it } from 'vitest';
import { wrongDirections, wrongLayers } from '../../lint/check-imports.ts';
import { circles } from '../../lint/circles.ts';
import { pastPorts } from '../../lint/past-ports.ts';
import { importsOf } from '../../lint/read-imports.ts';
import { unusedExports } from '../../lint/unused-exports.ts';

describe('the linter refuses', () => {
  it.each([
    ['src/shared/store/a.ts', '../../api/app.ts'],
    ['src/api/calls/a.ts', '../../worker/worker.ts'],
    ['src/api/calls/a.ts', 'node:fs'],
    ['src/api/calls/a.ts', 'chokidar'],
    ['src/api/console-files.ts', '../worker/worker.ts'],
    ['src/worker/files/a.ts', 'hono'],
    ['src/client/a.ts', '../shared/runtime/settings.ts'],
    ['src/console/run/a.ts', '../../shared/runtime/settings.ts'],
    ['src/console/run/a.ts', 'node:fs'],
    ['src/cli/a.ts', '../api/app.ts'],
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

  it('files that import each other, if only for their types', () => {
    const imports = [
      ['src/a.ts', "import type { B } from './b.ts';"],
      ['src/b.ts', "import { c } from './c.ts';\nimport { z } from 'zod';"],
      ['src/c.ts', "export type { A } from './a.ts';\nimport { d } from './d.ts';"],
      ['src/d.ts', ''],
    ].flatMap(([from = '', text = '']) => importsOf(from, text));
    expect(circles(imports)).toEqual(['src/a.ts → src/b.ts → src/c.ts → src/a.ts: these files import each other.']);
    expect(circles(imports.filter(({ from }) => from !== 'src/c.ts'))).toEqual([]);
  });
});

describe('code that the simulator runs', () => {
  const found = (text: string, path = 'src/worker/files/a.ts') => pastPorts([{ path, text }]).length;

  it.each([
    "import { readdir } from 'node:fs/promises';",
    "import { setTimeout } from 'node:timers/promises';",
    "import { randomUUID } from 'node:crypto';",
    "import { watch } from 'chokidar';",
    'export const now = () => Date.now();',
    'export const at = performance.now();',
    "import crypto from 'node:crypto';",
    'export const id = () => crypto.randomUUID();',
    'export const later = () => globalThis.setTimeout(() => {}, 1);',
    'export const wait = promisify(setTimeout);',
    'let count = 0;',
    'const seen = new Map<string, number>();',
    'export const look = cached(5, lstat);',
  ])('is refused where it goes past a port or keeps something in a module: %s', (text) => {
    expect(found(text)).toBe(1);
    expect(found(text, 'src/api/calls/a.ts')).toBe(1);
    expect(found(text, 'src/worker/files/ports/a.ts')).toBe(0);
    expect(found(text, 'src/api/http/a.ts')).toBe(0);
  });
});

describe('an export of src', () => {
  const used = 'export const b = 1;\nexport type C = string;\nexport async function d() {}\n';

  it('that no other file imports is named, unless its file is published', () => {
    const sources = [
      { path: 'src/b.ts', text: used },
      { path: 'src/a.ts', text: "import { b, d } from './b.ts';" },
    ];
    expect(unusedExports(sources, [])).toEqual([
      'src/b.ts exports C, which no other file imports: remove it, or the word export.',
    ]);
    expect(unusedExports(sources, ['src/b.ts'])).toEqual([]);
  });
});

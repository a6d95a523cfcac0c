import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type InlineConfig } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leafNodesOf } from '../../../src/client/analyzer/leaf-nodes.ts';
import type { KeyPart } from '../../../src/client/analyzer/things.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { type Style, styles } from './styles.ts';

/** What becomes of a leaf on its way to the process that runs it. */
const ways: Readonly<Record<string, InlineConfig['build']>> = {
  bundled: {},
  minified: { minify: true },
  'minified for ES2017': { minify: true, target: 'es2017' },
  'CommonJS, minified': { minify: true, lib: { entry: 'styles.ts', formats: ['cjs'] } },
};

function keysOf({ leaf }: Style): string[] {
  const errors: unknown[] = [];
  const [node] = leafNodesOf(createRegistry({ Leaf: leaf }), (error) => errors.push(error));
  expect(errors).toEqual([]);
  const keys = (node?.roamKeys ?? []).map(({ keyParts }) => keyParts.map(textOf).join('|'));
  return [...new Set(keys)];
}

function textOf(part: KeyPart): string {
  switch (part.type) {
    case 'literal':
      return part.value;
    case 'field':
      return `{${part.ref}}`;
    case 'roamDerived':
      return part.fromKey === '?' ? '?' : `<${part.fromKey}>`;
    case 'composite':
      // What is composed of something unknown is as unknown.
      return part.parts.some((each) => textOf(each) === '?') ? '?' : part.parts.map(textOf).join('');
  }
}

test.each(styles)('as it is written: $style', (style) => {
  expect(keysOf(style).sort()).toEqual([...style.keys].sort());
});

describe.each(Object.entries(ways))('%s', (name, options) => {
  let folder: string;
  let built: readonly Style[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'styles-'));
    const entry = join(import.meta.dirname, 'styles.ts');
    const format = options?.lib ? 'cjs' : 'es';
    await build({
      ...{ root: import.meta.dirname, configFile: false, logLevel: 'error' },
      build: {
        ...{ outDir: folder, emptyOutDir: false, minify: false, target: 'es2024' },
        ...options,
        lib: { entry, formats: [format], fileName: () => `styles.${format === 'cjs' ? 'cjs' : 'mjs'}` },
      },
    });
    const module = await import(pathToFileURL(join(folder, `styles.${format === 'cjs' ? 'cjs' : 'mjs'}`)).href);
    built = module.styles;
  });
  afterAll(() => rm(folder, { recursive: true }));

  test(`no key is missed and none is false, ${name}`, () => {
    const found = built.map((style) => [style.style, keysOf(style).sort()]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(styles.map(({ style, keys }) => [style, [...keys].sort()])),
    );
  });
});

test('the table of the documentation is this one', async () => {
  const rows = styles.map(({ style, keys }) => `| ${style} | ${keys.map((key) => `\`${key}\``).join(', ')} |`);
  const text = [
    '# What is found in the code of a leaf',
    '',
    'The keys that a client publishes for each way to write a leaf, the same as the code stands, bundled, and minified (ES2024, ES2017,',
    'CommonJS). `{field}` is a configured field, `<key>` the value of another key, and `?` says that there may be keys that the code alone',
    'does not tell: the page shows a placeholder for them, and `reads` beside `leaf` declares them. This table is written by its test.',
    '',
    '| A leaf with | Keys |',
    '|---|---|',
    ...rows,
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot('../../../docs/analyzer.md');
});

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { keysOf, touchedBy } from '../client/analyzer/found.ts';
import type { Style } from '../client/analyzer/styles/style.ts';
import { styles } from '../client/analyzer/styles/styles.ts';
import { importWithTsx, type Way, ways } from './ways.ts';

/** By the name of a style: the ways in which its keys come out incomplete. */
const incomplete = new Map<string, string[]>();
const decorated: Style[] = [];
const names = [...ways.map(({ way }) => way), 'tsx'];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'styles-'));
});

/** No key is missed without a `?`. */
async function compare(way: string, built: readonly Style[]): Promise<void> {
  const wrong: Record<string, unknown> = {};
  for (const style of built) {
    const expected = new Set(style.keys);
    const found = keysOf(style);
    const isUnsure = found.some((key) => key.includes('?'));
    if (isUnsure && !style.keys.some((key) => key.includes('?'))) note(style.style, way);
    const touched = isUnsure || !expected.has('?') ? [] : await touchedBy(style);
    const missed = [...style.keys.filter((key) => key !== '?'), ...touched].filter((key) => !found.includes(key));
    if (missed.length > 0 && !isUnsure) wrong[style.style] = missed;
  }
  expect(wrong).toEqual({});
}

function note(style: string, way: string): void {
  incomplete.set(style, [...(incomplete.get(style) ?? []), way]);
}

const stylesIn = async (path: string): Promise<Style[]> => (await import(pathToFileURL(path).href)).styles;

test.each(ways)('no key is missed in silence: $way', async ({ way, build }: Way) => {
  const pathOf = await build(await mkdtemp(join(folder, 'way-')));
  const built = await stylesIn(pathOf('styles'));
  expect(built).toHaveLength(styles.length);
  await compare(way, built);
  const withDecorators = await stylesIn(pathOf('decorated'));
  expect(withDecorators).toHaveLength(3);
  await compare(way, withDecorators);
  if (decorated.length === 0) decorated.push(...withDecorators);
});

test('no key is missed in silence: tsx', async () => {
  for (const name of ['styles', 'decorated']) {
    const module = await importWithTsx(name);
    if (typeof module === 'object' && module && 'styles' in module && Array.isArray(module.styles))
      await compare('tsx', module.styles);
  }
});

test('what is found of each style is what was found before', async () => {
  const rows = [...styles, ...decorated].map(({ style, keys }) => {
    const list = keys.length > 4 ? [...keys.slice(0, 2), '…', ...keys.slice(-1)] : keys;
    const shown = list.map((key) => (key === '…' ? key : `\`${key}\``)).join(', ') || 'none';
    return `| ${style} | ${shown} | ${(incomplete.get(style) ?? []).join('; ')} |`;
  });
  const text = [
    '# What is found in the code of a leaf',
    '',
    'The keys that a client publishes for each way to write a leaf: `npm run test:compat` looks for them, and with `-- -u` writes this file.',
    '`{field}` is a configured field, `<key>` the value of another key, and `?` says that the leaf may read more keys.',
    '',
    `Every leaf was looked at as it stands, and as these make it: ${names.join('; ')}. The last column names those after which a \`?\` stands`,
    'beside the keys, or for them.',
    '',
    '| A leaf with | Keys | Incomplete after |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot('styles.found.txt');
});

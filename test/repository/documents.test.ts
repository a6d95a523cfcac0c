import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomes } from '../../src/shared/contract/endings/codes.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const isThere = (path: string) => statSync(join(ROOT, path), { throwIfNoEntry: false }) !== undefined;

const decisions = readdirSync(join(ROOT, 'docs/adr')).filter((name) => name !== 'README.md');
const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/adr/README.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...decisions.map((name) => `docs/adr/${name}`),
];

describe('the decisions', () => {
  it('are numbered from 1 without a gap, each number once, in the name of the file as in its title', () => {
    const numbers = decisions.toSorted().map((name) => Number(name.slice(0, 4)));
    expect(numbers).toEqual(decisions.map((_, index) => index + 1));
    const titles = decisions.toSorted().map((name) => Number(/^# (\d+)\. /.exec(read(`docs/adr/${name}`))?.[1]));
    expect(titles).toEqual(numbers);
  });

  it('are all in the index, in order, each with its title', () => {
    const titles = decisions.toSorted().map((name) => {
      const [, number, title] = /^# (\d+)\. (.*)/.exec(read(`docs/adr/${name}`)) ?? [];
      return `${number}. [${title}](${name})`;
    });
    expect(read('docs/adr/README.md').match(/^\d+\. .*/gm)).toEqual(titles);
  });
});

it.each(documents)('every file that %s links to is there', (path) => {
  const links = [...read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !isThere(join(dirname(path), link)))).toEqual([]);
});

it('every heading that a document links to is there', () => {
  const anchorsOf = (path: string) =>
    [
      ...read(path)
        .replace(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/^#+ (.*)$/gm),
    ].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const missing = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].flatMap(([, file = '', anchor = '']) => {
      const target = file === '' ? path : join(dirname(path), file);
      return !target.endsWith('.md') || anchorsOf(target).includes(anchor) ? [] : [`${path}: ${file}#${anchor}`];
    }),
  );
  expect(missing).toEqual([]);
});

it('the table of codes has every code with its status, and no other', () => {
  const rows = [...read('docs/operations.md').matchAll(/^\| (\d{3}) \| `([\w-]+)` \|/gm)].map(([, status, code]) => [
    code ?? '',
    Number(status),
  ]);
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(outcomes).map(([code, { status }]) => [code, status])),
  );
});

it('every file that the map of the code names is there', () => {
  const rows = read('ARCHITECTURE.md')
    .split('\n')
    .filter((line) => line.startsWith('| '));
  const missing = rows.flatMap((row) => {
    let folder = '.';
    return [...row.matchAll(/`([\w./-]+\.(?:tsx?|js|sh)|src\/[\w./-]+\/?)`/g)].flatMap(([, name = '']) => {
      // A name without a folder is beside the file that was named before it.
      const path = name.includes('/') ? name : join(folder, name);
      folder = dirname(path);
      return isThere(path) ? [] : [path];
    });
  });
  expect(missing).toEqual([]);
});

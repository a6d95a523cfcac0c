import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const MAX_FILES = 15;
const MAX_LINES = 500;
const SMALL = 40;
const isCode = (name: string) => /\.tsx?$/.test(name);

const entries = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true });
const files = entries
  .filter((entry) => entry.isFile() && isCode(entry.name))
  .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1));
const text = new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
const folders = new Map<string, string[]>();
for (const path of files) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), path]);

/** The rooms of the document: a heading names the part, each row a folder and the file to read first. */
const rooms = readFileSync(join(ROOT, 'docs/rooms.md'), 'utf8')
  .split(/^## .*`(?=src)/m)
  .slice(1)
  .flatMap((section) => {
    const part = section.slice(0, section.indexOf('`'));
    return [...section.matchAll(/^\| `([^`]+)` \| .+ \| `([^`]+)` \|$/gm)].map(([, folder = '', first = '']) => ({
      folder: normalize(join(part, folder)),
      first,
    }));
  });

it('every folder has a room, and every room a folder', () => {
  const names = [...folders.keys()].toSorted();
  expect(rooms.map(({ folder }) => folder.replace(/\/$/, '')).toSorted()).toEqual(names);
});

it('the file to read first is in its room', () => {
  expect(rooms.map(({ folder, first }) => normalize(join(folder, first))).filter((path) => !text.has(path))).toEqual(
    [],
  );
});

it('no folder has more files than can be seen at a glance, and no file more lines than can be read in one go', () => {
  const crowded = [...folders].filter(([, within]) => within.length > MAX_FILES).map(([path]) => path);
  expect(crowded).toEqual([]);
  const lines = (path: string) => text.get(path)?.split('\n').length ?? 0;
  expect(files.filter((path) => lines(path) > MAX_LINES)).toEqual([]);
});

it('a small file is one that several others import, or says why it stands alone', () => {
  const importers = new Map<string, number>();
  for (const [path, content] of text)
    for (const [, name = ''] of content.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) {
      const target = normalize(join(dirname(path), name));
      importers.set(target, (importers.get(target) ?? 0) + 1);
    }
  const small = files
    .filter((path) => /^src\/(?:api|worker|shared)\//.test(path))
    .filter((path) => (text.get(path)?.split('\n').length ?? 0) <= SMALL)
    .filter((path) => (importers.get(path) ?? 0) < 2 && !text.get(path)?.startsWith('// A file of its own: '));
  expect(small).toEqual([]);
});

/** The rooms of the worker are its folders and the files beside them. */
it('the worker has at most 12 rooms, and at most 30 pairs of which one imports the other', () => {
  const roomOf = (path: string) => path.split('/')[2] ?? '';
  const own = [...text].filter(([path]) => path.startsWith('src/worker/'));
  const arrows = own.flatMap(([path, content]) =>
    [...content.matchAll(/from '(\.[^']+)'/g)]
      .map(([, name = '']) => normalize(join(dirname(path), name)))
      .filter((to) => to.startsWith('src/worker/') && roomOf(to) !== roomOf(path))
      .map((to) => `${roomOf(path)} → ${roomOf(to)}`),
  );
  expect(new Set(own.map(([path]) => roomOf(path))).size).toBeLessThanOrEqual(12);
  expect(new Set(arrows).size).toBeLessThanOrEqual(30);
});

/** Rooms with fewer files are read as quickly as their head would be. */
const MANY = 5;

it('in the API, the worker and what they share, the file to read first tells what each file of its room does', () => {
  const silent = rooms.flatMap(({ folder, first }) => {
    const within = folders.get(folder.replace(/\/$/, '')) ?? [];
    if (!/^src\/(?:api|worker|shared)/.test(folder) || within.length < MANY) return [];
    const content = text.get(normalize(join(folder, first))) ?? '';
    const head = /^(?:\/\/ A file of its own: .*\n)?((?:\/\/ .*\n)+)/.exec(content)?.[1] ?? '';
    const told = [...head.matchAll(/`([\w-]+\.tsx?)`/g)].map(([, name]) => name).toSorted();
    const there = within.map((path) => basename(path)).toSorted();
    const differs = [
      ...there.filter((name) => !told.includes(name)),
      ...told.filter((name) => !there.includes(name ?? '')),
    ];
    return differs.length === 0 ? [] : [`${join(folder, first)}: ${differs}`];
  });
  expect(silent).toEqual([]);
});
